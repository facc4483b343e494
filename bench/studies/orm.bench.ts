import 'reflect-metadata';
import { parseArgs } from 'node:util';
import { Module } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { DataSource, type EntityTarget, type ObjectLiteral } from 'typeorm';
import { IdModule, IdService } from '@leaf-ids/id';
import { startMariadb } from '../../test/support/servers/mariadb';
import { LeafPurchase, makeRow, PlainPurchase } from './orm/entities';
import { TimedSubscriber } from './orm/timed-subscriber';
import { describeEnvironment, readEnvironment } from '../report/environment';
import { writeResults } from '../report/results-file';
import { ratios, summarize, type Summary } from '../report/summary';
import { formatTable, percent, whole } from '../report/table';
import { below, describeTargets, figure } from '../report/targets';

const ROWS = 100_000;
/** Rows per INSERT, limited by the default packet size of the database server. */
const CHUNK = 10_000;
/** Maximum share of the time of the insert. */
const LIMIT = 0.02;

type Operation = 'insert' | 'save';

interface Round {
  readonly withLeafMs: number;
  readonly withKeysMs: number;
  readonly idsMs: number;
  readonly calls: number;
}

class Bench {
  constructor(
    private readonly dataSource: DataSource,
    private readonly subscriber: TimedSubscriber,
  ) {}

  async round(operation: Operation): Promise<Round> {
    const keys = Array.from({ length: ROWS }, (_, index) => ({ ...makeRow(index), id: String(index + 1) }));
    const withKeysMs = await this.time(PlainPurchase, keys, operation);
    this.subscriber.reset();
    const rows = Array.from({ length: ROWS }, (_, index) => makeRow(index));
    const withLeafMs = await this.time(LeafPurchase, rows, operation);
    return { withLeafMs, withKeysMs, idsMs: this.subscriber.totalMs, calls: this.subscriber.bulks };
  }

  private async time(
    entity: EntityTarget<ObjectLiteral>,
    rows: ObjectLiteral[],
    operation: Operation,
  ): Promise<number> {
    const repository = this.dataSource.getRepository(entity);
    await repository.clear();
    const entities = rows.map((row) => (operation === 'save' ? repository.create(row) : row));
    const start = performance.now();
    if (operation === 'save') await repository.save(entities, { chunk: CHUNK });
    else {
      for (let first = 0; first < ROWS; first += CHUNK) await repository.insert(rows.slice(first, first + CHUNK));
    }
    const ms = performance.now() - start;
    const count = await repository.count();
    if (count !== ROWS) throw new Error(`The table has ${count} of ${ROWS} rows`);
    return ms;
  }
}

async function main(): Promise<void> {
  const { values } = parseArgs({ options: { quick: { type: 'boolean', default: false } } });
  const environment = readEnvironment();
  console.log(describeEnvironment(environment));
  const mariadb = await startMariadb();
  const dataSource = new DataSource({
    type: 'mysql',
    url: await mariadb.createDatabase(),
    entities: [LeafPurchase, PlainPurchase],
    synchronize: true,
  });
  await dataSource.initialize();

  @Module({ imports: [IdModule.forRoot({ database: { dataSource }, tags: ['purchase'] })] })
  class HostModule {}
  const app = await NestFactory.createApplicationContext(HostModule, { logger: false });
  const results: Record<string, Round[]> = {};
  try {
    const bench = new Bench(dataSource, new TimedSubscriber(dataSource, app.get(IdService)));
    for (const operation of ['insert', 'save'] as const) {
      await bench.round(operation);
      const rounds: Round[] = [];
      for (let round = 0; round < (values.quick ? 1 : 5); round++) rounds.push(await bench.round(operation));
      results[operation] = rounds;
    }
  } finally {
    await app.close();
    await dataSource.destroy();
    await mariadb.stop();
  }
  report(results);
  const targets = Object.entries(results).map(([operation, rounds]) =>
    below(`IDs, of the time of ${operation}`, shareOf(rounds).median, LIMIT, 'ratio'),
  );
  console.log(`${describeTargets(targets)}\n`);
  const figures = Object.entries(results).map(([operation, rounds]) =>
    figure(`${operation} with @LeafId`, summarize(rounds.map(({ withLeafMs }) => withLeafMs)).median, 'ms'),
  );
  console.log(`Written to ${writeResults('orm', { environment, targets, figures, rows: ROWS, results })}`);
}

function shareOf(rounds: readonly Round[]): Summary {
  return summarize(rounds.map(({ idsMs, withLeafMs }) => idsMs / withLeafMs));
}

function report(results: Record<string, Round[]>): void {
  const rows = Object.entries(results).map(([operation, rounds]) => {
    const shares = shareOf(rounds);
    if (shares.median >= LIMIT) {
      console.error(`FAILED: IDs took ${percent(shares.median)} of ${operation}, the limit is ${percent(LIMIT)}`);
      process.exitCode = 1;
    }
    const withLeaf = rounds.map(({ withLeafMs }) => withLeafMs);
    const withKeys = rounds.map(({ withKeysMs }) => withKeysMs);
    const ids = summarize(rounds.map(({ idsMs }) => idsMs));
    return [
      operation,
      `${whole(summarize(withLeaf).median)} ms`,
      `${ids.median.toFixed(1)} ms`,
      `${percent(shares.median)} (${percent(shares.min)}..${percent(shares.max)})`,
      String(rounds[0]?.calls),
      summarize(ratios(withLeaf, withKeys)).median.toFixed(2),
    ];
  });
  const header = [`${whole(ROWS)} rows by`, 'with @LeafId', 'for IDs', 'share', 'calls', 'to rows that have keys'];
  console.log(`\n${formatTable(header, rows)}\n`);
}

main().then(
  () => process.exit(),
  (error: unknown) => {
    console.error(error);
    process.exit(1);
  },
);
