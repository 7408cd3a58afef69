"""mask-cpu: RGB frame to mask and count on the CPU, against OpenCV's three calls."""
import tempfile
from pathlib import Path

import cv2
import numpy as np

import ours
import pictures
from measure import Mismatch, compare, interleave, timed

THRESHOLD = 127


class OpenCv:
    """cvtColor, threshold and countNonZero into buffers that are made once."""

    def __init__(self, frame, threads):
        cv2.setNumThreads(threads)
        self.frame = frame
        self.gray = np.zeros(frame.shape[:2], np.uint8)
        self.mask = np.zeros(frame.shape[:2], np.uint8)
        self.area = 0

    def run(self):
        cv2.cvtColor(self.frame, cv2.COLOR_RGB2GRAY, dst=self.gray)
        cv2.threshold(self.gray, THRESHOLD, 255, cv2.THRESH_BINARY, dst=self.mask)
        self.area = cv2.countNonZero(self.mask)


def check_equal(case, peer, folder):
    case.run(1)
    case.dump(folder)
    peer.run()
    mask = np.fromfile(Path(folder) / "mask.raw", np.uint8).reshape(peer.mask.shape)
    area = int(np.fromfile(Path(folder) / "area.raw", np.int64)[0])
    different = np.argwhere(mask != peer.mask)
    if len(different):
        y, x = different[0]
        raise Mismatch(f"{len(different)} mask pixels, first at x {x}, y {y}: "
                       f"{mask[y, x]} here, {peer.mask[y, x]} from OpenCV")
    if area != peer.area:
        raise Mismatch(f"the area is {area} here, {peer.area} from OpenCV")


def measure(options):
    programs = ours.build(options)
    frame, source = pictures.rgb_frame()
    peer = OpenCv(frame, options.threads)
    height, width = frame.shape[:2]
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "frame.raw"
        frame.tofile(file)
        with ours.Case(programs, "mask", file, height, width, THRESHOLD) as case:
            check_equal(case, peer, folder)
            blocks = interleave({"ours": case.run, "peer": timed(peer.run)}, options)
    return {**compare(programs, blocks),
            "peer_name": f"OpenCV {cv2.__version__} cvtColor + threshold + countNonZero",
            "frame": source}
