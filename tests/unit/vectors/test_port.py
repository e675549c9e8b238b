import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from sinks.vectors.port import from_bytes, to_bytes


@given(arrays(np.float32, 384, elements=st.floats(-1, 1, width=32)))
def test_a_vector_survives_conversion_to_bytes_and_back(vector: np.ndarray) -> None:
    back = from_bytes(to_bytes(vector))
    assert np.array_equal(back, vector)
    assert back.flags.writeable


def test_vectors_are_encoded_as_little_endian_float32_on_any_machine() -> None:
    assert to_bytes(np.array([1.0], np.float32)) == b"\x00\x00\x80\x3f"
    assert to_bytes(np.array([1.0], np.dtype(">f4"))) == b"\x00\x00\x80\x3f"
