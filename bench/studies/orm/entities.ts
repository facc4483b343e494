import { Column, Entity, PrimaryColumn } from 'typeorm';
import { LeafId } from '@leaf-ids/orm';

/** A typical table. Subclasses differ in the source of the key. */
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

/** The keys are set before the insert. */
@Entity()
export class PlainPurchase extends Purchase {
  @PrimaryColumn({ type: 'bigint' })
  id!: string;
}

export function makeRow(index: number): Omit<PlainPurchase, 'id'> {
  return { customer: `customer ${index % 997}`, amount: index % 10_000, currency: 'EUR', note: `row ${index}` };
}
