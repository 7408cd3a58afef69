"""Writes pictures of every kind, each with the pixels that Pillow reads from it.

usage: make_cases.py FOLDER

FOLDER/cases.txt has one line a picture: FILE HEIGHT WIDTH CHANNELS TOLERANCE, or FILE REFUSED
where reading it must fail. The pixels of FILE are in FILE.npy (uint8, C order).
"""
import struct
import sys
import zlib
from pathlib import Path

import numpy as np
from PIL import Image, ImageOps

GRAY, RGB, PALETTE, GRAY_ALPHA, RGBA = 0, 2, 3, 4, 6
SAMPLES = {GRAY: 1, RGB: 3, PALETTE: 1, GRAY_ALPHA: 2, RGBA: 4}
DEPTHS = {GRAY: (1, 2, 4, 8), RGB: (8,), PALETTE: (1, 2, 4, 8), GRAY_ALPHA: (8,), RGBA: (8,)}
ADAM7 = ((0, 0, 8, 8), (0, 4, 8, 8), (4, 0, 8, 4), (0, 2, 4, 4), (2, 0, 4, 2), (0, 1, 2, 2),
         (1, 0, 2, 1))
SIZES = ((1, 1), (1, 13), (9, 1), (31, 45))

random = np.random.default_rng(1)


class Cases:
    def __init__(self, folder):
        self.folder = folder
        self.lines = []

    def add(self, name, tolerance=0):
        image = ImageOps.exif_transpose(Image.open(self.folder / name))
        pixels = np.asarray(image.convert(wanted_mode(image)))
        pixels = pixels.reshape(pixels.shape[0], pixels.shape[1], -1)
        np.save(self.folder / f"{name}.npy", np.ascontiguousarray(pixels))
        self.lines.append(f"{name} {' '.join(map(str, pixels.shape))} {tolerance}")

    def refuse(self, name):
        self.lines.append(f"{name} REFUSED")


def wanted_mode(image):
    if image.mode in ("LA", "RGBA", "PA") or "transparency" in image.info:
        return "RGBA"
    return "L" if image.mode in ("1", "L") else "RGB"


def chunk(kind, body):
    return struct.pack(">I", len(body)) + kind + body + struct.pack(">I", zlib.crc32(kind + body))


def packed(samples, depth):
    """Rows of [H, W * samples] values below 2^depth, each with filter byte 0."""
    bits = (samples[..., None] >> np.arange(depth - 1, -1, -1)) & 1
    rows = np.packbits(bits.reshape(len(samples), -1).astype(np.uint8), axis=1)
    return b"".join(b"\0" + row.tobytes() for row in rows)


def png(kind, depth, samples, width, interlaced, extra):
    height = len(samples)
    pixels = samples.reshape(height, width, SAMPLES[kind])
    passes = ADAM7 if interlaced else ((0, 0, 1, 1),)
    data = b""
    for y, x, down, right in passes:
        part = pixels[y::down, x::right]
        if part.size:
            data += packed(part.reshape(len(part), -1), depth)
    header = struct.pack(">IIBBBBB", width, height, depth, kind, 0, 0, int(interlaced))
    return (b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", header) + extra +
            chunk(b"IDAT", zlib.compress(data)) + chunk(b"IEND", b""))


def png_chunks(kind, depth, transparent):
    extra = b""
    if kind == PALETTE:
        extra += chunk(b"PLTE", random.integers(0, 256, 3 * 2**depth, np.uint8).tobytes())
    if transparent and kind == PALETTE:
        extra += chunk(b"tRNS", random.integers(0, 256, 2**depth // 2, np.uint8).tobytes())
    elif transparent:
        extra += chunk(b"tRNS", struct.pack(f">{SAMPLES[kind]}H", *[1] * SAMPLES[kind]))
    return extra


def add_png(cases):
    for kind, depths in DEPTHS.items():
        for depth in depths:
            # Pillow does not compare tRNS with gray samples of 2 and 4 bits before widening them.
            can_be_transparent = kind in (RGB, PALETTE) or (kind == GRAY and depth == 8)
            for transparent in (False, True)[:1 + can_be_transparent]:
                for height, width in SIZES:
                    for interlaced in (False, True):
                        name = f"png-{kind}-{depth}-{height}x{width}"
                        name += "-trns" * transparent + "-adam7" * interlaced + ".png"
                        high = 4 if transparent and kind != PALETTE else 2**depth
                        shape = (height, width * SAMPLES[kind])
                        samples = random.integers(0, high, shape, np.uint16)
                        extra = png_chunks(kind, depth, transparent)
                        data = png(kind, depth, samples, width, interlaced, extra)
                        (cases.folder / name).write_bytes(data)
                        cases.add(name)


def picture(height, width, channels):
    y, x = np.mgrid[0:height, 0:width]
    planes = [np.sin(x / (5 + c)) * 60 + np.cos(y / (4 + c)) * 60 + 128 for c in range(channels)]
    return np.clip(np.stack(planes, -1) + random.normal(0, 4, (height, width, channels)), 0,
                   255).astype(np.uint8).squeeze(-1 if channels == 1 else ())


def add_jpeg(cases):
    for height, width in SIZES + ((64, 64), (101, 203)):
        for progressive in (False, True):
            for subsampling in (0, 1, 2):
                name = f"rgb-{height}x{width}-{subsampling}{'-progressive' * progressive}.jpg"
                Image.fromarray(picture(height, width, 3)).save(
                    cases.folder / name, subsampling=subsampling, progressive=progressive,
                    quality=88)
                cases.add(name, tolerance=1)
            name = f"gray-{height}x{width}{'-progressive' * progressive}.jpg"
            Image.fromarray(picture(height, width, 1)).save(
                cases.folder / name, progressive=progressive)
            cases.add(name, tolerance=1)
    Image.fromarray(picture(40, 40, 4), mode="CMYK").save(cases.folder / "cmyk.jpg")
    cases.refuse("cmyk.jpg")


def add_orientations(cases):
    for orientation in range(1, 9):
        exif = Image.Exif()
        exif[0x010F] = "a maker, so that the orientation is not the only entry"
        exif[0x0112] = orientation
        for suffix, channels in (("jpg", 3), ("jpg", 1), ("png", 3), ("png", 4), ("png", 1)):
            name = f"orientation-{orientation}-{channels}.{suffix}"
            Image.fromarray(picture(21, 34, channels)).save(cases.folder / name, exif=exif)
            cases.add(name, tolerance=1 if suffix == "jpg" else 0)


def add_refused(cases):
    image = Image.fromarray(picture(16, 16, 3))
    for suffix in ("gif", "bmp", "tiff", "webp"):
        image.save(cases.folder / f"other.{suffix}")
        cases.refuse(f"other.{suffix}")
    Image.fromarray(picture(16, 16, 1).astype(np.uint16) * 257).save(cases.folder / "deep.png")
    cases.refuse("deep.png")


def main():
    cases = Cases(Path(sys.argv[1]))
    add_png(cases)
    add_jpeg(cases)
    add_orientations(cases)
    add_refused(cases)
    (cases.folder / "cases.txt").write_text("\n".join(cases.lines) + "\n")


if __name__ == "__main__":
    main()
