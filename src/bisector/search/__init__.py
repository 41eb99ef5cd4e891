"""Who is near: exact search under any distance."""
