import { ensureBuilt, SERVER_FILE } from '../../support/build';
import { announcedSeed } from '../../support/seeds';
import { runChaos } from './chaos-run';
import { describe as tell, folderOf, writeReports } from './report/reports';
import { summarize } from './report/summary';

const DATABASE = 'mariadb';
const MINUTES = Number(process.env.LEAF_TEST_CHAOS_MINUTES ?? 3);
/** Start and end of the world, and a last recovery, on a machine that does much else. */
const AROUND_MINUTES = 7;
/** Even if each of them took half a minute. */
const LEAST_FAULTS = 2 * MINUTES;

it(
  'gives no ID twice, refuses for known reasons only and recovers, whatever fault of a seed comes next',
  async () => {
    await ensureBuilt();
    const seed = announcedSeed();
    const folder = folderOf(DATABASE, seed);
    const say = (): void => undefined;
    const outcome = await runChaos({
      database: DATABASE,
      coordinator: 'zookeeper',
      seed,
      minutes: MINUTES,
      busy: true,
      serverFile: SERVER_FILE,
      folder,
      say,
    });
    const summary = summarize(DATABASE, seed, outcome);
    writeReports(folder, summary, outcome);
    process.stdout.write(`${tell(summary)}\nnpm run chaos -- --busy --seed ${seed} --minutes ${MINUTES}\n`);
    const { duplicates, descents, unexpected, stuck, late, slow, traces } = summary;
    expect({ duplicates, descents, unexpected, stuck, late, slow, refused: traces.refused }).toEqual({
      duplicates: [],
      descents: [],
      unexpected: [],
      stuck: undefined,
      late: [],
      refused: [],
      slow: [],
    });
    // The worker IDs of five servers, and the tags.
    expect(traces.accepted).toBeGreaterThan(5);
    expect(summary.faults).toBeGreaterThanOrEqual(LEAST_FAULTS);
    expect(Object.values(summary.tagChanges)).not.toContain(0);
    expect(summary.receipts).toBeGreaterThan(1000 * MINUTES);
  },
  (MINUTES + AROUND_MINUTES) * 60_000,
);
