"""Building blocks of filters, which depend on none of them."""
