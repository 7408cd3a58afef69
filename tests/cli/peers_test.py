"""Masks of the program against OpenCV and Pillow on the same pixels: peers_test.py PROGRAM"""
import json
import os
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

import cv2
import numpy as np
from PIL import Image

PROGRAM = sys.argv.pop(1)
SIZES = [(1, 1), (1, 7), (13, 1), (31, 33), (240, 321)]


def pixels(height, width, channels, seed=1):
    """Smooth color with noise, so that JPEG keeps both sides of every threshold."""
    random = np.random.default_rng(seed)
    y, x, c = np.ogrid[:height, :width, :channels]
    smooth = 3 * x + 2 * y + 60 * c
    return ((smooth + random.integers(0, 40, (height, width, channels))) % 256).astype(np.uint8)


class Peers(unittest.TestCase):
    def setUp(self):
        self.temporary = tempfile.TemporaryDirectory()
        self.folder = Path(self.temporary.name)
        self.addCleanup(self.temporary.cleanup)

    def mask(self, picture, *words):
        """The area that the program tells and the mask that it writes."""
        out = self.folder / "mask.png"
        done = subprocess.run([PROGRAM, "mask", str(picture), "-o", str(out), "--json", *words],
                              capture_output=True, text=True, check=False)
        self.assertEqual(done.returncode, 0, done.stderr)
        return json.loads(done.stdout)["images"][0]["area"], out

    def expect_opencv(self, picture, threshold):
        area, out = self.mask(picture, "--threshold", str(threshold))
        frame = cv2.imread(str(picture), cv2.IMREAD_COLOR)
        gray = cv2.cvtColor(frame, cv2.COLOR_BGR2GRAY)
        _, expected = cv2.threshold(gray, threshold, 255, cv2.THRESH_BINARY)
        ours = cv2.imread(str(out), cv2.IMREAD_UNCHANGED)
        np.testing.assert_array_equal(ours, expected)
        self.assertEqual(area, cv2.countNonZero(expected))

    def test_png_equals_opencv(self):
        for size in SIZES:
            for threshold in (0, 100, 127, 254):
                with self.subTest(size=size, threshold=threshold):
                    picture = self.folder / "in.png"
                    cv2.imwrite(str(picture), pixels(*size, 3))
                    self.expect_opencv(picture, threshold)

    def test_jpeg_equals_opencv_on_the_same_pixels(self):
        # OpenCV may hold another libjpeg, whose decoding may differ by one level: the pixels that
        # the program saw are those of Debian's libjpeg, which Pillow's PNG copy does not change.
        for size in SIZES:
            with self.subTest(size=size):
                picture = self.folder / "in.jpg"
                Image.fromarray(pixels(*size, 3)).save(picture, quality=92, subsampling=0)
                ours_area, _ = self.mask(picture)
                frame = cv2.imread(str(picture), cv2.IMREAD_COLOR)
                gray = cv2.cvtColor(frame, cv2.COLOR_BGR2GRAY).astype(int)
                sure = int((gray > 128).sum()), int((gray > 126).sum())
                self.assertGreaterEqual(ours_area, sure[0])
                self.assertLessEqual(ours_area, sure[1])

    def test_pillow_gray_mode(self):
        picture = self.folder / "in.png"
        frame = Image.fromarray(pixels(61, 75, 3))
        frame.save(picture)
        area, out = self.mask(picture, "--gray", "bt601_q16")
        expected = np.where(np.asarray(frame.convert("L")) > 127, 255, 0)
        np.testing.assert_array_equal(np.asarray(Image.open(out)), expected)
        self.assertEqual(area, int((expected > 0).sum()))

    def test_one_bit_mask_is_read_by_pillow(self):
        for width in (1, 8, 13, 64):
            picture = self.folder / "in.png"
            Image.fromarray(pixels(9, width, 3)).save(picture)
            _, bytes_mask = self.mask(picture)
            expected = np.asarray(Image.open(bytes_mask)) > 0
            _, bits_mask = self.mask(picture, "--bits", "1")
            with Image.open(bits_mask) as read:
                self.assertEqual(read.mode, "1")
                np.testing.assert_array_equal(np.asarray(read), expected)

    def test_orientation_as_pillow_turns_it(self):
        from PIL import ImageOps
        picture = self.folder / "in.jpg"
        for orientation in range(1, 9):
            with self.subTest(orientation=orientation):
                frame = Image.fromarray(np.repeat(np.repeat(pixels(6, 9, 3), 16, 0), 16, 1))
                exif = Image.Exif()
                exif[0x0112] = orientation
                frame.save(picture, quality=98, subsampling=0, exif=exif)
                _, out = self.mask(picture)
                upright = ImageOps.exif_transpose(Image.open(picture)).convert("RGB")
                gray = cv2.cvtColor(np.asarray(upright), cv2.COLOR_RGB2GRAY)
                ours = np.asarray(Image.open(out))
                self.assertEqual(ours.shape, gray.shape)
                clear = np.abs(gray.astype(int) - 127) > 2
                np.testing.assert_array_equal(ours[clear], np.where(gray > 127, 255, 0)[clear])

    def test_rgba_palette_and_gray(self):
        frame = pixels(20, 30, 4)
        for name, picture in {"rgba": Image.fromarray(frame, "RGBA"),
                              "palette": Image.fromarray(frame[..., :3]).quantize(64),
                              "gray": Image.fromarray(frame[..., 0])}.items():
            with self.subTest(kind=name):
                path = self.folder / f"{name}.png"
                picture.save(path)
                _, out = self.mask(path)
                rgb = np.asarray(picture.convert("RGBA"))[..., :3]
                gray = frame[..., 0] if name == "gray" else cv2.cvtColor(rgb, cv2.COLOR_RGB2GRAY)
                np.testing.assert_array_equal(np.asarray(Image.open(out)),
                                              np.where(gray > 127, 255, 0))


if __name__ == "__main__":
    os.environ.setdefault("FUSELINE_LOG", "error")
    unittest.main()
