"""Sign-in through an organization (OpenID Connect), and second factors."""
