module schedc

go 1.23
