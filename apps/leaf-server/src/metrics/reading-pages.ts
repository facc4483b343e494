import { LEAF_METRICS, type Line, type MetricReading } from '@leaf-ids/id/internal';
import { BusRequest, type Gathered, type Missing, type ProcessBus } from '../processes/process-bus';
import { chunksOf, type LazyReading, type Readings } from './exposition';
import { SERVER_METRICS } from './server-metrics';

interface PageQuestion {
  /** The process that asks. */
  readonly asker: number;
  readonly page: number;
}

interface PageAnswer {
  /** Undefined when this process has no such page for the asker: it was replaced meanwhile, or has answered all pages. */
  readonly readings: readonly MetricReading[] | undefined;
  readonly more: boolean;
}

const READINGS = new BusRequest<PageQuestion, PageAnswer>('metrics');
/** Lines of a page: few enough that a process parses those of several others without a pause. */
const LINES = 500;

/** The readings of all processes of a server, passed between them page by page. */
export class ReadingPages {
  /** Pages for each process that asks; all are read before the first is answered. */
  private readonly pages = new Map<number, MetricReading[][]>();

  constructor(
    private readonly bus: ProcessBus,
    private readonly read: () => Readings<MetricReading>,
  ) {
    bus.serve(READINGS, (question) => this.answer(question));
  }

  /** One call at a time. A process that stops answering half way counts as missing. */
  async gather(): Promise<Gathered<readonly MetricReading[]>> {
    const found = new Map<number, MetricReading[]>();
    const missing = new Map<number, Missing>();
    const complete = new Set<number>();
    for (let page = 0; page === 0 || found.size > complete.size; page++) {
      const gathered = await this.bus.ask(READINGS, { asker: this.bus.process, page });
      const lost = gathered.answers
        .filter(({ value }) => value.readings === undefined)
        .map(({ process }) => ({ process, reason: 'it was replaced', gone: false }));
      for (const each of [...gathered.missing, ...lost]) {
        if (complete.has(each.process)) continue;
        missing.set(each.process, each);
        found.delete(each.process);
      }
      for (const { process, value } of gathered.answers) {
        if (value.readings === undefined || missing.has(process)) continue;
        found.set(process, [...(found.get(process) ?? []), ...value.readings]);
        if (!value.more) complete.add(process);
      }
    }
    return { answers: [...found].map(([process, value]) => ({ process, value })), missing: [...missing.values()] };
  }

  private async answer({ asker, page }: PageQuestion): Promise<PageAnswer> {
    if (page === 0) this.pages.set(asker, await inPages(this.read()));
    const pages = this.pages.get(asker) ?? [];
    const more = page + 1 < pages.length;
    if (!more) this.pages.delete(asker);
    return { readings: pages[page], more };
  }
}

async function inPages(readings: Readings<MetricReading>): Promise<MetricReading[][]> {
  const pages: MetricReading[][] = [[]];
  let room = LINES;
  for await (const reading of readings) {
    for (const values of reading.values.length === 0 ? [[]] : chunksOf(reading.values)) {
      if (values.length > room) {
        pages.push([]);
        room = LINES;
      }
      pages.at(-1)?.push({ ...reading, values });
      room -= values.length;
    }
  }
  return pages;
}

type AllReadings = Gathered<readonly MetricReading[]>;
type Reading = { readonly process: number; readonly reading: MetricReading };

const SHARED = new Map([...LEAF_METRICS, ...SERVER_METRICS].map(({ name, shared }) => [name, shared]));

/**
 * The metrics of several processes. Each line has the label `process`: the counter of a process that was replaced starts
 * from 0, and that of a process without an answer is absent. A sum over the processes would fall then, which readers
 * would take for new events. Only what all processes read of the same thing has one line.
 */
export function* merged(readings: AllReadings): Generator<LazyReading> {
  const byName = new Map<string, Reading[]>();
  for (const { process, value } of readings.answers) {
    for (const reading of value) {
      const others = byName.get(reading.name);
      if (others === undefined) byName.set(reading.name, [{ process, reading }]);
      else others.push({ process, reading });
    }
  }
  for (const [name, each] of byName) {
    const { help = '', type = 'gauge' } = each[0]?.reading ?? {};
    const shared = SHARED.get(name);
    yield { name, help, type, values: shared === undefined ? linesOfEach(each) : extremes(each, shared) };
  }
  yield processUp(readings);
}

function processUp({ answers, missing }: AllReadings): MetricReading {
  const line = ({ process }: { readonly process: number }, value: number): Line => ({ labels: { process }, value });
  return {
    name: 'leaf_process_up',
    type: 'gauge',
    help: '1 if the process of this server responds',
    values: [...answers.map((each) => line(each, 1)), ...missing.map((each) => line(each, 0))],
  };
}

function* linesOfEach(readings: readonly Reading[]): Generator<Line> {
  for (const { process, reading } of readings) {
    for (const line of reading.values) yield { ...line, labels: { ...line.labels, process } };
  }
}

function extremes(readings: readonly Reading[], shared: 'least' | 'most'): Line[] {
  const lines = new Map<string, Line>();
  for (const line of readings.flatMap(({ reading }) => reading.values)) {
    const key = JSON.stringify(line.labels);
    const before = lines.get(key);
    const counts = before === undefined || (shared === 'least' ? line.value < before.value : line.value > before.value);
    if (counts) lines.set(key, line);
  }
  return [...lines.values()];
}
