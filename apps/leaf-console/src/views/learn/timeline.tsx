import type { JSX } from 'preact';
import { useLayoutEffect, useRef, useState } from 'preact/hooks';
import { type Lane, type Lanes, layOut } from './lanes';
import { seconds } from './seconds';
import { stateOf } from './server-cards';
import type { LearnTexts } from './texts/en';
import { START } from './world/film-time';
import type { FilmWorld } from './world/film-world';
import type { Issued, Window } from './world/issued';
import './timeline.css';

interface TimelineProps {
  readonly t: LearnTexts;
  readonly world: FilmWorld;
  /** Infinity: the timeline moves along. */
  readonly endMs: number;
}

/** Horizontal margins and the height of the axis, in pixels. */
const SIDE = 8;
const AXIS = 36;
/** Shown beyond the end of a scene, and beyond now in free play: reserved time. */
const AHEAD_MS = 7000;
const FREE_PAST_MS = 17_000;

type Scale = (ms: number) => number;

/** The reserved times of the servers and their IDs, by the time in the IDs: below each other, they must not overlap. */
export function Timeline({ t, world, endMs }: TimelineProps): JSX.Element {
  const frame = useRef<HTMLDivElement>(null);
  /** Before the first measurement. */
  const [width, setWidth] = useState(320);
  useLayoutEffect(() => {
    const { current } = frame;
    if (current === null) return undefined;
    setWidth(current.clientWidth);
    const observer = new ResizeObserver(() => setWidth(current.clientWidth));
    observer.observe(current);
    return () => observer.disconnect();
  }, []);
  const { lanes, records, height, rowOf } = layOut(world);
  const to = endMs === Infinity ? Math.max(FREE_PAST_MS, world.time.now) + AHEAD_MS : endMs + AHEAD_MS;
  const from = endMs === Infinity ? to - FREE_PAST_MS - AHEAD_MS : 0;
  const x: Scale = (ms) => SIDE + ((Math.min(Math.max(ms, from), to) - from) / (to - from)) * (width - 2 * SIDE);
  const isShown = (ms: number): boolean => ms >= from && ms <= to;
  const twice = world.duplicates.filter(({ timestamp }) => isShown(timestamp));
  const [first, last] = [twice[0], twice.at(-1)];
  return (
    <div ref={frame} class="learn-timeline">
      <svg width={width} height={height + AXIS} role="img" aria-label={summaryOf(world, t)}>
        <defs>
          <pattern id="learn-hatch" width="6" height="6" patternUnits="userSpaceOnUse" patternTransform="rotate(45)">
            <rect class="learn-hatch-ground" width="6" height="6" />
            <rect class="learn-hatch-line" width="2" height="6" />
          </pattern>
        </defs>
        <Ticks {...{ x, isShown, to, width, height }} />
        <text class="learn-axis" x={width - SIDE} y={height + 32} text-anchor="end">
          {t.axis}
        </text>
        {lanes.map((lane) => (
          <LaneView key={lane.server.name} {...{ t, lane, world, x, isShown, width }} />
        ))}
        {records[0] !== undefined && (
          <text class="learn-name" x={SIDE} y={records[0].y - 8}>
            {t.registry}
          </text>
        )}
        {records.map(({ workerId, y }) => (
          <RecordRow key={workerId} {...{ t, world, workerId, y, x, to }} />
        ))}
        {twice.map((second) => (
          <Twice key={String(second.id)} {...{ second, x, rowOf }} />
        ))}
        {first !== undefined && last !== undefined && (
          <text
            class="learn-same"
            {...labelAt(x(first.timestamp), x(last.timestamp), width)}
            y={middleOf(first, rowOf)}
          >
            {t.sameId}
          </text>
        )}
      </svg>
      <Legend t={t} />
    </div>
  );
}

interface TicksProps {
  readonly x: Scale;
  readonly isShown: (ms: number) => boolean;
  /** The end of the axis, in milliseconds. */
  readonly to: number;
  readonly width: number;
  readonly height: number;
}

function Ticks({ x, isShown, to, width, height }: TicksProps): JSX.Element {
  const everyMs = width < 600 ? 5000 : 2000;
  const ticks = Array.from({ length: Math.floor(to / everyMs) + 1 }, (_, index) => index * everyMs).filter(isShown);
  return (
    <>
      {ticks.map((ms) => (
        <g key={ms} class="learn-tick">
          <line x1={x(ms)} x2={x(ms)} y1={0} y2={height + 4} />
          <text x={x(ms)} y={height + 16} text-anchor={ms === 0 ? 'start' : 'middle'}>
            {ms / 1000}
          </text>
        </g>
      ))}
    </>
  );
}

interface LaneProps {
  readonly t: LearnTexts;
  readonly lane: Lane;
  readonly world: FilmWorld;
  readonly x: Scale;
  readonly isShown: (ms: number) => boolean;
  readonly width: number;
}

function LaneView({ t, lane, world, x, isShown, width }: LaneProps): JSX.Element {
  const { server, top, rows, bottom } = lane;
  const clock = server.clock.now() - START;
  const isUp = lane.process?.alive === true;
  return (
    <g class={isUp && !server.paused ? 'learn-lane' : 'learn-lane resting'}>
      <rect class="learn-ground" x={0} y={top} width={width} height={bottom - top} rx={5} />
      <text class="learn-name" x={SIDE} y={top + 15}>
        {lane.process?.name ?? server.name}
        <tspan class="learn-state" dx={8}>
          {stateOf(server, world, t)}
        </tspan>
      </text>
      {rows.map(({ process, y, windows, ids }) => (
        <g key={process.name}>
          {windows.map((window) => (
            <WindowView key={window.from} {...{ window, y, x, clock }} />
          ))}
          {rows.length > 1 && (
            <text class="learn-state" x={x(windows.at(-1)?.ceiling ?? 0) + 6} y={y + 4}>
              {process.name}
            </text>
          )}
          {ids.map(
            ({ id, timestamp }) =>
              isShown(timestamp) && (
                <rect key={String(id)} class="learn-id" x={x(timestamp) - 1.5} y={y - 7} width={3} height={14} rx={1} />
              ),
          )}
        </g>
      ))}
      {isUp && isShown(clock) && <path class="learn-clock" d={`M${x(clock)} ${bottom}V${top + 25}m-4 -5h8l-4 5z`} />}
    </g>
  );
}

interface WindowProps {
  readonly window: Window;
  readonly y: number;
  readonly x: Scale;
  readonly clock: number;
}

/** What is left of the reserved time is hatched. */
function WindowView({ window: { from, ceiling, held }, y, x, clock }: WindowProps): JSX.Element {
  const used = Math.min(ceiling, held ? Math.max(from, clock) : ceiling);
  return (
    <g class={held ? 'learn-window' : 'learn-window ended'}>
      <rect class="learn-used" x={x(from)} y={y - 10} width={x(used) - x(from)} height={20} />
      <rect class="learn-left" x={x(used)} y={y - 10} width={x(ceiling) - x(used)} height={20} />
      <line x1={x(ceiling)} x2={x(ceiling)} y1={y - 11} y2={y + 11} />
    </g>
  );
}

interface RecordProps {
  readonly t: LearnTexts;
  readonly world: FilmWorld;
  readonly workerId: number;
  readonly y: number;
  readonly x: Scale;
  /** The end of the axis, in milliseconds. */
  readonly to: number;
}

/** What the registry records of a worker ID: the bar ends at the ceiling. */
function RecordRow({ t, world, workerId, y, x, to }: RecordProps): JSX.Element {
  const record = world.workers.records.get(workerId)?.record;
  const ceiling = (record?.ceiling ?? START) - START;
  const holder = record?.leaseId ?? '';
  const until = `${seconds(ceiling)}${ceiling > to ? ` (${t.beyond})` : ''}`;
  const text = record?.free ? t.released(String(workerId), until) : t.record(String(workerId), holder, until);
  return (
    <g class="learn-record">
      <rect x={SIDE} y={y} width={x(ceiling) - SIDE} height={15} />
      <line x1={x(ceiling)} x2={x(ceiling)} y1={y - 2} y2={y + 17} />
      <text x={SIDE + 6} y={y + 11.5}>
        {text}
      </text>
    </g>
  );
}

interface TwiceProps {
  readonly second: Issued;
  readonly x: Scale;
  readonly rowOf: Lanes['rowOf'];
}

/** Connects the two places of an ID that was issued twice. */
function Twice({ second, x, rowOf }: TwiceProps): JSX.Element | null {
  const [one, other] = endsOf(second, rowOf);
  if (one === undefined || other === undefined) return null;
  const at = x(second.timestamp);
  return (
    <g class="learn-twice">
      <line x1={at} x2={at} y1={one} y2={other} />
      <circle cx={at} cy={one} r={5.5} />
      <circle cx={at} cy={other} r={5.5} />
    </g>
  );
}

/** The middles of the rows of both processes. */
function endsOf({ first, process }: Issued, rowOf: Lanes['rowOf']): (number | undefined)[] {
  return [first?.process ?? process, process].map((each) => rowOf(each)?.y);
}

function middleOf(issued: Issued, rowOf: Lanes['rowOf']): number {
  const [one = 0, other = one] = endsOf(issued, rowOf);
  return (one + other) / 2 + 4;
}

/** After the last one, if there is room; otherwise before the first one. */
function labelAt(
  first: number,
  last: number,
  width: number,
): { readonly x: number; readonly 'text-anchor': 'start' | 'end' } {
  return last < width - 90 ? { x: last + 10, 'text-anchor': 'start' } : { x: first - 10, 'text-anchor': 'end' };
}

function Legend({ t }: { readonly t: LearnTexts }): JSX.Element {
  return (
    <ul class="learn-legend" aria-hidden="true">
      <li>
        <i class="learn-key-left" /> {t.legendUsed}
      </li>
      <li>
        <i class="learn-key-id" /> {t.legendId}
      </li>
      <li>
        <i class="learn-key-clock" /> {t.legendNow}
      </li>
      <li>
        <i class="learn-key-twice" /> {t.legendTwice}
      </li>
    </ul>
  );
}

function summaryOf({ windows, ids, duplicates }: FilmWorld, t: LearnTexts): string {
  const lanes = windows.map(({ process, workerId, ceiling }) =>
    t.lane(process.name, String(workerId), seconds(ceiling)),
  );
  return t.summary(lanes.join(' '), String(ids.length), String(duplicates.length));
}
