"""Both ways to sum outer products keep the contract, and agree."""

import pytest
from numpy.testing import assert_allclose

from ecselm import _native as compiled
from ecselm.linalg import row_products
from ecselm.linalg.batched import BlasProducts, LaneProducts
from tests.contracts.products_contract import ProductsContract, equations, fresh

needs_library = pytest.mark.skipif(
    not compiled.is_available(), reason="the compiled library was not built"
)


@needs_library
class TestLaneProducts(ProductsContract):
    @pytest.fixture
    def make(self):
        return LaneProducts.from_rows


class TestBlasProducts(ProductsContract):
    @pytest.fixture
    def make(self):
        return BlasProducts.from_rows


@needs_library
def test_both_paths_agree(rng):
    H, T = rng.standard_normal((200, 20)), rng.standard_normal((200, 3))
    d = rng.random((7, 200)) - 0.1
    fast, slow = LaneProducts.from_rows(H, T), BlasProducts.from_rows(H, T)
    pairs = [equations(products, fresh(products, d)) for products in (fast, slow)]
    for one, other in zip(*pairs, strict=True):
        assert_allclose(one, other, rtol=1e-9, atol=1e-10)


@needs_library
def test_the_library_is_used_where_it_is_there(rng):
    rows = rng.standard_normal((5, 2)), rng.standard_normal((5, 1))
    assert isinstance(row_products(*rows), LaneProducts)
    with compiled.disabled():
        assert isinstance(row_products(*rows), BlasProducts)
