import { SnowflakeId } from '@leaf-ids/orm';
import { Column, Entity, ManyToOne, type Relation } from 'typeorm';
import { Order } from './order.entity';

@Entity()
export class OrderLine {
  @SnowflakeId()
  id!: bigint;

  @Column()
  article!: string;

  @ManyToOne(() => Order, (order) => order.lines)
  order!: Relation<Order>;
}
