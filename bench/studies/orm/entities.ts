import { Column, Entity, PrimaryColumn } from 'typeorm';
import { LeafId } from '@leaf-ids/orm';

/** A table as any other: `T` differs in where its key comes from. */
abstract class Purchase {
  @Column()
  customer!: string;

  @Column()
  amount!: number;

  @Column()
  currency!: string;

  @Column()
  note!: string;
}

@Entity()
export class LeafPurchase extends Purchase {
  @LeafId('purchase')
  id!: string;
}

/** Its keys are there before the insert begins. */
@Entity()
export class PlainPurchase extends Purchase {
  @PrimaryColumn({ type: 'bigint' })
  id!: string;
}

export function makeRow(index: number): Omit<PlainPurchase, 'id'> {
  return { customer: `customer ${index % 997}`, amount: index % 10_000, currency: 'EUR', note: `row ${index}` };
}
