"""The demo and the sample fleet with its storefront, apart from the product."""
