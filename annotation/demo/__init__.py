"""The demo: text written for this project, judged by simulated annotators, and a task to try."""

from annotation.demo.load import DEMO_PASSWORD, STUDY, load_demo

__all__ = ["DEMO_PASSWORD", "STUDY", "load_demo"]
