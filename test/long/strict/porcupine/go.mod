module github.com/leaf-ids/leaf/test/long/strict/porcupine

go 1.22

require github.com/anishathalye/porcupine v1.3.1
