import type { JSX } from 'preact';
import { bitFields, type Decoded, type Layout } from '../../ids/snowflake-layout';
import { useConsole } from '../../state/context';

interface BitsRowProps {
  readonly id: bigint;
  readonly decoded: Decoded;
  readonly layout: Layout;
}

/** The 64 bits in four fields with proportional widths, with the values below. */
export function BitsRow({ id, decoded, layout }: BitsRowProps): JSX.Element {
  const { t } = useConsole();
  const labels = {
    sign: [t.sign, '0'],
    time: [t.timestamp, String(decoded.timestamp - layout.epoch)],
    worker: [t.worker, String(decoded.workerId)],
    sequence: [t.sequence, String(decoded.sequence)],
  } as const;
  return (
    <div class="bits">
      {bitFields(id, layout).map(({ name, bits }) => (
        <div key={name} class={`bit-field bit-${name}`} style={{ flexGrow: bits.length }}>
          <span class="bit-digits">{bits}</span>
          <span class="bit-label">
            {labels[name][0]} <small>{t.bitCount(bits.length)}</small>
          </span>
          <span class="bit-value">{labels[name][1]}</span>
        </div>
      ))}
    </div>
  );
}
