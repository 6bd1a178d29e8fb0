module questions

go 1.23

require schedc v0.0.0

replace schedc => ../../../bindings/go
