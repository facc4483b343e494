create table if not exists orders (id bigint primary key, name varchar(50));
