import { LeafId } from '@leaf-ids/orm';
import { Column, Entity, OneToMany } from 'typeorm';
import { OrderLine } from './order-line.entity';

@Entity()
export class Order {
  @LeafId('order')
  id!: string;

  @Column()
  customer!: string;

  @OneToMany(() => OrderLine, (line) => line.order, { cascade: true })
  lines!: OrderLine[];
}
