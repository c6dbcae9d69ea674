"""All three, one after the other, with what they take by themselves.

OMP_NUM_THREADS=1 TOUCHSTONE_DATA=… python -m benchmarks.translation
"""

from benchmarks.translation import controls, extraction, tatoeba

if __name__ == "__main__":
    for each in (extraction, controls, tatoeba):
        print(f"\n{each.__name__}")
        each.main()
