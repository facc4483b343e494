create table orders (id bigint primary key, name varchar(50));
