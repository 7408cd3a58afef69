"""Writes what OpenCV and Pillow make of all colours, and of pictures that it writes too.

pixel_peers.py FOLDER NAME...   names: gray hsv nv12 resize
"""
import pathlib
import sys

import cv2
import numpy as np
from PIL import Image

folder = pathlib.Path(sys.argv[1])
random = np.random.default_rng(1)


def save(name, array):
    (folder / name).write_bytes(np.ascontiguousarray(array).tobytes())


def all_colours():
    """4096 x 4096 RGB; red changes slowest."""
    number = np.arange(1 << 24, dtype=np.uint32)
    channels = [number >> 16, number >> 8, number]
    return np.stack([(c & 255).astype(np.uint8) for c in channels], -1).reshape(4096, 4096, 3)


def gray():
    colours = all_colours()
    save("bt601_q15.raw", cv2.cvtColor(colours, cv2.COLOR_RGB2GRAY))
    save("bt601_q16.raw", np.asarray(Image.fromarray(colours).convert("L")))
    exact = colours.astype(np.float64) @ [0.2126, 0.7152, 0.0722]
    save("bt709.raw", np.floor(exact + 0.5).astype(np.uint8))


def hsv():
    save("hsv.raw", cv2.cvtColor(all_colours(), cv2.COLOR_RGB2HSV))


def nv12():
    height, width = 64, 96
    # OpenCV takes luma below 16 as 16; the standard lets it go on, and so do we.
    y = random.integers(16, 256, (height, width), np.uint8)
    uv = random.integers(0, 256, (height // 2, width // 2, 2), np.uint8)
    planes = np.concatenate([y.ravel(), uv.ravel()]).reshape(height * 3 // 2, width)
    save("y.raw", y)
    save("uv.raw", uv)
    save("rgb.raw", cv2.cvtColor(planes, cv2.COLOR_YUV2RGB_NV12))


def resize():
    picture = random.integers(0, 256, (37, 53, 3), np.uint8)
    save("picture.raw", picture)
    for height, width in [(37, 53), (74, 106), (19, 27), (100, 11), (1, 1)]:
        for name, how in [("linear", cv2.INTER_LINEAR), ("nearest", cv2.INTER_NEAREST)]:
            save(f"{name}_{height}_{width}.raw",
                 cv2.resize(picture, (width, height), interpolation=how))


for name in sys.argv[2:]:
    {"gray": gray, "hsv": hsv, "nv12": nv12, "resize": resize}[name]()
