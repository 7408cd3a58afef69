"""The 4K picture of the benchmarks: a real photograph where it is installed."""
from pathlib import Path

import cv2
import numpy as np

PHOTOGRAPH = Path("/usr/share/backgrounds/mate/abstract/Elephants_3840x2160.jpg")
WIDTH, HEIGHT = 3840, 2160


def _drawn_rgb():
    generator = np.random.default_rng(2160)
    rows = np.linspace(0, 255, HEIGHT)[:, None, None]
    columns = np.linspace(0, 255, WIDTH)[None, :, None]
    noise = generator.normal(0, 40, (HEIGHT, WIDTH, 3))
    return np.clip((rows + columns) / 2 + noise, 0, 255).astype(np.uint8)


def rgb_frame():
    """A 3840x2160 RGB frame and the words that say where it comes from."""
    if PHOTOGRAPH.exists():
        frame = cv2.cvtColor(cv2.imread(str(PHOTOGRAPH), cv2.IMREAD_COLOR), cv2.COLOR_BGR2RGB)
        if frame.shape == (HEIGHT, WIDTH, 3):
            return frame, f"{PHOTOGRAPH.name} of mate-backgrounds"
    return _drawn_rgb(), "gradients and noise (mate-backgrounds is not installed)"


def jpeg_file(folder):
    """A baseline 4:2:0 JPEG of quality 90, as cameras write them, and the words that say of what.

    The photograph itself is a progressive file whose decoding takes ten times as long, and its
    variation would hide everything else.
    """
    frame, source = rgb_frame()
    file = Path(folder) / "frame.jpg"
    settings = [cv2.IMWRITE_JPEG_QUALITY, 90,
                cv2.IMWRITE_JPEG_SAMPLING_FACTOR, cv2.IMWRITE_JPEG_SAMPLING_FACTOR_420]
    cv2.imwrite(str(file), cv2.cvtColor(frame, cv2.COLOR_RGB2BGR), settings)
    return file, f"{source}, saved as baseline 4:2:0 JPEG of quality 90"
