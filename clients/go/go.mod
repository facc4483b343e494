module github.com/leaf-ids/leaf/clients/go

go 1.22
