"""The demo: texts written for this project, simulated judgments, and campaigns to try."""

from annotation.demo.load import DEMO_PASSWORD, STUDY, load_demo

__all__ = ["DEMO_PASSWORD", "STUDY", "load_demo"]
