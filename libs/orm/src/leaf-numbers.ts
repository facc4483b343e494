import type { EntityManager } from 'typeorm';
import { LeafError, type Numbers, type TransactionStatement } from '@leaf-ids/core';

/**
 * Numbers without gaps in transactions of TypeORM, on the database of the tags.
 *
 * @example await dataSource.transaction(async (manager) => {
 *   await manager.save(invoice);
 *   invoice.number = await numbers.next(manager, 'invoice', invoice.id);
 *   await manager.save(invoice);
 * });
 */
export class LeafNumbers {
  /**
   * @param numbers `Numbers` of `IdModule`, or `Leaf.numbers`
   * @param by the name of the application, for the journal
   */
  constructor(
    private readonly numbers: Numbers,
    private readonly by = 'application',
  ) {}

  /**
   * The number of a document: its text if the tag has a pattern, otherwise in decimal. Call it last: until the
   * transaction commits, all other documents of the tag wait.
   *
   * @param manager of an open transaction
   * @throws LeafError as `Numbers.issueWithin`; `LEAF_NUMBER_SETTLED` for a void number; `LEAF_REQUEST_INVALID` outside a
   *   transaction, or in one on another database
   */
  async next(manager: EntityManager, tag: string, key: string, at?: Date): Promise<string> {
    const [text = ''] = await this.nextAll(manager, tag, [key], at);
    return text;
  }

  /** As {@link next}, for 1 to 1000 documents, in the order of their keys. */
  async nextAll(manager: EntityManager, tag: string, keys: readonly string[], at?: Date): Promise<string[]> {
    const answers = await this.numbers.issueWithin(statementOf(manager), tag, keys, this.by, at);
    return answers.map(({ number }) => this.numbers.textOf(tag, number));
  }
}

/** @throws LeafError `LEAF_REQUEST_INVALID` */
function statementOf({ queryRunner }: EntityManager): TransactionStatement {
  if (queryRunner?.isTransactionActive !== true) throw outsideTransaction();
  return <Rows>(sql: string, parameters: (string | number | bigint | null)[] = []) =>
    queryRunner.query(sql, parameters) as Promise<Rows>;
}

export function outsideTransaction(): LeafError {
  return new LeafError(
    'LEAF_REQUEST_INVALID',
    'A number without gaps needs an open transaction, with which it is committed or rolled back. Use dataSource.transaction() or save().',
  );
}
