"""Reads PNG files with Pillow and OpenCV and compares them with the pixels beside them.

usage: check_written.py FOLDER

Each FILE.png in FOLDER has its pixels in FILE.png.raw, and its name ends in -HEIGHTxWIDTHxCHANNELS.
"""
import sys
from pathlib import Path

import cv2
import numpy as np
from PIL import Image


def main():
    files = sorted(Path(sys.argv[1]).glob("*.png"))
    for file in files:
        shape = [int(n) for n in file.stem.rsplit("-", 1)[1].split("x")]
        expected = np.fromfile(f"{file}.raw", np.uint8).reshape(shape).squeeze(-1 if shape[2] == 1
                                                                               else ())
        image = Image.open(file)
        by_pillow = np.asarray(image.convert("L") if image.mode == "1" else image)
        by_opencv = cv2.imread(str(file), cv2.IMREAD_UNCHANGED)
        if shape[2] == 3:
            by_opencv = cv2.cvtColor(by_opencv, cv2.COLOR_BGR2RGB)
        if shape[2] == 4:
            by_opencv = cv2.cvtColor(by_opencv, cv2.COLOR_BGRA2RGBA)
        for reader, pixels in (("Pillow", by_pillow), ("OpenCV", by_opencv)):
            if not np.array_equal(pixels, expected):
                sys.exit(f"{file.name}: {reader} reads other pixels")
    print(len(files))


if __name__ == "__main__":
    main()
