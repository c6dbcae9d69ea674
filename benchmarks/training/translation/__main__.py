"""Run all four benchmarks, one after the other, with their defaults.

OMP_NUM_THREADS=1 TOUCHSTONE_DATA=… python -m benchmarks.training.translation
"""

from benchmarks.training.translation import controls, extraction, served, tatoeba

if __name__ == "__main__":
    for each in (extraction, served, controls, tatoeba):
        print(f"\n{each.__name__}")
        each.main()
