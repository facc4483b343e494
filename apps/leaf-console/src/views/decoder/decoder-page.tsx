import type { JSX } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import {
  bitFields,
  decode,
  type Decoded,
  DEFAULT_LAYOUT,
  type IdFault,
  type Layout,
  parseId,
  placeOf,
} from '../../ids/snowflake-layout';
import { useConsole, useMonitor } from '../../state/context';
import { hrefOf } from '../../state/route';
import { CopyButton } from '../../ui/copy-button';
import { Field } from '../../ui/field';
import { MomentRanges } from './moment-ranges';

/** Decodes an ID. The URL contains the ID and can be shared. */
export function DecoderPage({ given }: { readonly given: string }): JSX.Element {
  const { t } = useConsole();
  const { snowflake } = useMonitor();
  const [text, setText] = useState(given);
  useEffect(() => setText(given), [given]);
  const write = (value: string): void => {
    setText(value);
    history.replaceState(null, '', hrefOf('decoder', value.trim()));
  };
  const worker = snowflake?.worker ?? null;
  const layout = worker?.layout ?? DEFAULT_LAYOUT;
  const id = parseId(text);
  const decoded = typeof id === 'bigint' ? decode(id, layout) : undefined;
  return (
    <>
      <section class="card" aria-label={t.decoder}>
        <Field
          class="id-field"
          label={t.pasteId}
          value={text}
          onValue={write}
          hint={t.pasteHint}
          fault={faultOf(id, decoded, t)}
          digits
        />
        {worker === null && <p class="hint">{t.defaultLayout}</p>}
        {typeof id === 'bigint' && decoded !== undefined && (
          <>
            <BitsRow id={id} decoded={decoded} layout={layout} />
            <Fields decoded={decoded} layout={layout} />
            <p class="hint">{t.segmentHint}</p>
          </>
        )}
      </section>
      <MomentRanges layout={layout} suggested={decoded?.timestamp} />
    </>
  );
}

function faultOf(
  id: bigint | IdFault,
  decoded: Decoded | undefined,
  t: ReturnType<typeof useConsole>['t'],
): string | undefined {
  if (typeof id === 'bigint') return decoded === undefined ? t.idOutsideLayout(String(id)) : undefined;
  const words = { empty: undefined, notDecimal: t.idNotDecimal, tooLarge: t.idTooLarge };
  return words[id];
}

function Fields({ decoded, layout }: { readonly decoded: Decoded; readonly layout: Layout }): JSX.Element {
  const { t, format } = useConsole();
  const store = useMonitor();
  const { timestamp, workerId, sequence } = decoded;
  const { datacenterBits = 0 } = layout;
  const place = placeOf(workerId, layout);
  const placeFacts = [
    [t.datacenter, String(place?.datacenter), `0 … ${2 ** datacenterBits - 1}`],
    [t.machine, String(place?.machine), `0 … ${2 ** (layout.workerBits - datacenterBits) - 1}`],
  ] as const;
  const facts: readonly (readonly [string, string, string?])[] = [
    [t.timeUtc, format.utc(timestamp), format.ago(timestamp, store.now())],
    [t.timeLocal, format.local(timestamp)],
    [t.unixMs, String(timestamp)],
    [t.worker, String(workerId), `0 … ${2 ** layout.workerBits - 1}`],
    ...(place === undefined ? [] : placeFacts),
    [t.sequence, String(sequence), `0 … ${2 ** layout.sequenceBits - 1}`],
  ];
  return (
    <dl class="facts decoded">
      {facts.map(([label, value, beside]) => (
        <div key={label}>
          <dt>{label}</dt>
          <dd>
            {value} {beside !== undefined && <small>{beside}</small>}
            <CopyButton text={value} what={label} />
          </dd>
        </div>
      ))}
    </dl>
  );
}

interface BitsRowProps {
  readonly id: bigint;
  readonly decoded: Decoded;
  readonly layout: Layout;
}

/** The 64 bits in fields with proportional widths, with the values below. */
function BitsRow({ id, decoded, layout }: BitsRowProps): JSX.Element {
  const { t } = useConsole();
  const place = placeOf(decoded.workerId, layout);
  const labels = {
    sign: [t.sign, '0'],
    time: [t.timestamp, String(decoded.timestamp - layout.epoch)],
    worker: [t.worker, String(decoded.workerId)],
    datacenter: [t.datacenter, String(place?.datacenter)],
    machine: [t.machine, String(place?.machine)],
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
