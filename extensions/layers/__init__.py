"""The pages on which layer of an encoder agrees best with humans."""
