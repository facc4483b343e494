import type { JSX } from 'preact';
import { useEffect, useRef, useState } from 'preact/hooks';
import Plot from 'uplot';
import 'uplot/dist/uPlot.min.css';
import { useConsole } from '../state/context';

export interface Layer {
  readonly label: string;
  /** Name of the colour in styles/colours.css. */
  readonly colour: string;
  readonly values: readonly number[];
}

interface StackedChartProps {
  /** Text alternative for screen readers. */
  readonly summary: string;
  /** Unix seconds. */
  readonly times: readonly number[];
  /** Time between the left edge and the newest value, in seconds. */
  readonly spanSeconds: number;
  /** The layers, from bottom to top. */
  readonly layers: readonly Layer[];
}

/** A stacked area chart over time. The legend shows the values under the pointer, or the newest values. */
export function StackedChart({ summary, times, spanSeconds, layers }: StackedChartProps): JSX.Element {
  const { format, theme } = useConsole();
  const frame = useRef<HTMLDivElement>(null);
  const plot = useRef<Plot | undefined>(undefined);
  const [pointed, setPointed] = useState<number | undefined>(undefined);
  const data = stacked(times, layers);
  useEffect(() => {
    const element = frame.current;
    if (element === null) return undefined;
    const make = (): Plot =>
      new Plot(optionsFor(element, layers, spanSeconds, format.short.bind(format), setPointed), data, element);
    plot.current = make();
    const observer = new ResizeObserver(() => plot.current?.setSize(sizeOf(element)));
    observer.observe(element);
    const dark = matchMedia('(prefers-color-scheme: dark)');
    const repaint = (): void => {
      plot.current?.destroy();
      plot.current = make();
    };
    dark.addEventListener('change', repaint);
    return () => {
      dark.removeEventListener('change', repaint);
      observer.disconnect();
      plot.current?.destroy();
    };
  }, [theme, format]);
  useEffect(() => plot.current?.setData(data), [times]);
  const shown = pointed ?? times.length - 1;
  return (
    <figure class="chart">
      <figcaption class="legend">
        {layers.map(({ label, colour, values }) => (
          <span key={label}>
            <span class={`swatch swatch-${colour}`} aria-hidden="true" />
            {label} <b>{format.rate(values[shown] ?? 0)}</b>
          </span>
        ))}
        <span class="legend-time">{times[shown] === undefined ? '' : format.clock(times[shown] * 1000)}</span>
      </figcaption>
      <div ref={frame} role="img" aria-label={summary} />
    </figure>
  );
}

/** Cumulative sums, highest first, because each layer is painted over the previous one. */
function stacked(times: readonly number[], layers: readonly Layer[]): Plot.AlignedData {
  let below: number[] = times.map(() => 0);
  const sums = layers.map(({ values }) => (below = below.map((sum, index) => sum + (values[index] ?? 0))));
  return [[...times], ...sums.reverse()];
}

function optionsFor(
  element: HTMLElement,
  layers: readonly Layer[],
  spanSeconds: number,
  short: (value: number) => string,
  onPoint: (index: number | undefined) => void,
): Plot.Options {
  const styles = getComputedStyle(element);
  const colour = (name: string): string => styles.getPropertyValue(`--${name}`);
  const axis = {
    stroke: colour('text-quiet'),
    font: `11px ${styles.fontFamily}`,
    grid: { stroke: colour('line'), width: 1 },
    ticks: { show: false },
  };
  return {
    ...sizeOf(element),
    legend: { show: false },
    cursor: { y: false, points: { show: false }, drag: { x: false, y: false } },
    scales: {
      x: { range: (_plot, _first, last) => [last - spanSeconds, last] },
      y: { range: (_plot, _low, high) => [0, Math.max(5, high * 1.08)] },
    },
    hooks: { setCursor: [({ cursor: { idx } }) => onPoint(idx ?? undefined)] },
    axes: [
      { ...axis, size: 26, space: 70, incrs: [60, 120, 300], values: (_plot, seconds) => seconds.map(timeOfDay) },
      { ...axis, size: 52, values: (_plot, values) => values.map(short) },
    ],
    series: [
      {},
      ...[...layers].reverse().map((layer) => ({
        label: layer.label,
        stroke: colour(layer.colour),
        fill: colour(`${layer.colour}-fill`),
        width: 1.25,
        points: { show: false },
      })),
    ],
  };
}

function sizeOf({ clientWidth, clientHeight }: HTMLElement): { width: number; height: number } {
  return { width: clientWidth, height: clientHeight };
}

function timeOfDay(seconds: number): string {
  const date = new Date(seconds * 1000);
  return `${String(date.getHours()).padStart(2, '0')}:${String(date.getMinutes()).padStart(2, '0')}`;
}
