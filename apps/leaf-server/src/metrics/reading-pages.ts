import type { MetricReading } from '@leaf-ids/id/internal';
import { BusRequest, type Gathered, type Missing, type ProcessBus } from '../processes/process-bus';
import { chunksOf, type Readings } from './exposition';

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
