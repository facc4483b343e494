import type { ChaosOutcome } from '../chaos-run';
import type { FaultRecord } from '../history/fault-record';
import { availability, type Slots } from '../history/slots';

const MARGIN = { left: 140, right: 20, top: 30, bottom: 30 };
const LANE = 14;
const CHART = 60;
const GAP = 24;
const LEAST_WIDTH = 1400;
const TICK_S = 30;
const LEGEND =
  'Bars: faults, dark while they last, light until every edge serves again. Below: calls answered, by second.';
/** Lanes from top to bottom: what all servers stand on first. */
const ORDER = ['database', 'pooler', 'zookeeper', 'server', 'clock', 'disk', 'client'];
const COLOURS = { fault: '#b3261e', recovery: '#f2b8b5', answered: '#2e7d32', grid: '#dddddd', text: '#333333' };

/** A picture of a run: its faults over time, and what callers noticed of them. */
export function drawTimeline({ books, durationMs }: ChaosOutcome, title: string): string {
  const { records } = books.judge;
  const lanes = [...new Set(records.flatMap(({ plan }) => plan.parts))].sort(
    (a, b) => rank(a) - rank(b) || compare(a, b),
  );
  const seconds = Math.ceil(durationMs / 1000);
  const plot = Math.max(LEAST_WIDTH, seconds);
  const x = (ms: number): number => MARGIN.left + (ms / 1000 / seconds) * plot;
  const charts: [string, Slots][] = [
    ['segment', books.clients.segment],
    ['snowflake', books.clients.snowflake],
    ['one server, segment', books.callers.segment],
    ['one server, snowflake', books.callers.snowflake],
  ];
  const chartsTop = MARGIN.top + lanes.length * LANE + GAP;
  const height = chartsTop + charts.length * (CHART + GAP) + MARGIN.bottom;
  const width = MARGIN.left + plot + MARGIN.right;
  const lines = [
    `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${height}" viewBox="0 0 ${width} ${height}" font-family="sans-serif" font-size="10" fill="${COLOURS.text}">`,
    `<rect width="100%" height="100%" fill="white"/>`,
    text(MARGIN.left, 16, `${title}. ${LEGEND}`),
  ];
  for (let at = 0; at <= seconds; at += TICK_S) {
    const left = x(at * 1000).toFixed(1);
    lines.push(`<path d="M${left} ${MARGIN.top}V${height - MARGIN.bottom}" stroke="${COLOURS.grid}"/>`);
    lines.push(text(Number(left), height - MARGIN.bottom + 12, `${at} s`));
  }
  lanes.forEach((lane, index) => lines.push(text(8, MARGIN.top + index * LANE + 10, lane)));
  for (const record of records) lines.push(...bars(record, lanes, x, durationMs));
  charts.forEach(([name, slots], index) => {
    const top = chartsTop + index * (CHART + GAP);
    lines.push(text(8, top + 10, name), chart(slots, seconds, x, top));
  });
  return `${[...lines, '</svg>'].join('\n')}\n`;
}

function bars(
  { plan, beganAt, endedAt, recoveredAt }: FaultRecord,
  lanes: readonly string[],
  x: (ms: number) => number,
  end: number,
): string[] {
  return plan.parts.map((part) => {
    const top = MARGIN.top + lanes.indexOf(part) * LANE + 2;
    const bar = (from: number, to: number, colour: string): string =>
      `<rect x="${x(from).toFixed(1)}" y="${top}" width="${Math.max(1, x(to) - x(from)).toFixed(1)}" height="${LANE - 4}" fill="${colour}"/>`;
    const over = endedAt ?? end;
    const name = `<title>${plan.kind} ${plan.detail}</title>`;
    return `<g>${name}${bar(over, recoveredAt ?? end, COLOURS.recovery)}${bar(beganAt, over, COLOURS.fault)}</g>`;
  });
}

/** The share of the calls of each second that were answered, as an area. */
function chart(slots: Slots, seconds: number, x: (ms: number) => number, top: number): string {
  const bottom = top + CHART;
  const points: string[] = [];
  for (let second = 0; second < seconds; second++) {
    const share = availability(slots.between(second * 1000, (second + 1) * 1000));
    const y = (bottom - share * CHART).toFixed(1);
    points.push(`${x(second * 1000).toFixed(1)},${y}`, `${x((second + 1) * 1000).toFixed(1)},${y}`);
  }
  const [left, right] = [x(0).toFixed(1), x(seconds * 1000).toFixed(1)];
  return `<polygon points="${left},${bottom} ${points.join(' ')} ${right},${bottom}" fill="${COLOURS.answered}" fill-opacity="0.6"/>`;
}

function text(x: number, y: number, content: string): string {
  return `<text x="${x}" y="${y}">${content}</text>`;
}

function rank(lane: string): number {
  const [kind = '', server] = lane.split(' ');
  return ORDER.indexOf(kind) + (server === undefined ? 0 : ORDER.length);
}

function compare(a: string, b: string): number {
  return a < b ? -1 : 1;
}
