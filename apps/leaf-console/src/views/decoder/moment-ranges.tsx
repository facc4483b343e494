import type { JSX } from 'preact';
import { useState } from 'preact/hooks';
import { parseMoment, type SpanName, spansOf } from '../../ids/moments';
import { idsBetween, type Layout } from '../../ids/snowflake-layout';
import { useConsole, useMonitor } from '../../state/context';
import { CopyButton } from '../../ui/copy-button';
import { Field } from '../../ui/field';

interface MomentRangesProps {
  readonly layout: Layout;
  /** Default: the time of the ID above. */
  readonly suggested: number | undefined;
}

/** The lowest and highest ID of a time, for queries by time. */
export function MomentRanges({ layout, suggested }: MomentRangesProps): JSX.Element {
  const { t, format } = useConsole();
  const store = useMonitor();
  const [text, setText] = useState('');
  const written = text.trim() === '' ? undefined : parseMoment(text);
  const faulty = text.trim() !== '' && written === undefined;
  const moment = written ?? suggested ?? Math.floor(store.now() / 1000) * 1000;
  const names: Readonly<Record<SpanName, string>> = {
    millisecond: t.millisecond,
    second: t.second,
    utcDay: t.utcDay,
    localDay: t.localDay,
  };
  return (
    <section class="card" aria-label={t.rangesTitle}>
      <h2>{t.rangesTitle}</h2>
      <p class="hint">{t.rangesHint}</p>
      <Field
        class="id-field"
        label={t.moment}
        value={text}
        onValue={setText}
        hint={`${t.momentHint} · ${format.utc(moment)}`}
        fault={faulty ? t.momentFault : undefined}
      />
      {!faulty && (
        <table class="ranges">
          <thead>
            <tr>
              <th scope="col">{t.span}</th>
              <th scope="col">{t.lowest}</th>
              <th scope="col">{t.highest}</th>
            </tr>
          </thead>
          <tbody>
            {spansOf(moment).map(({ name, from, to }) => (
              <tr key={name}>
                <th scope="row">{names[name]}</th>
                <Ends range={idsBetween(from, to, layout)} span={names[name]} />
              </tr>
            ))}
          </tbody>
        </table>
      )}
    </section>
  );
}

interface EndsProps {
  readonly range: { readonly lowest: bigint; readonly highest: bigint } | undefined;
  readonly span: string;
}

function Ends({ range, span }: EndsProps): JSX.Element {
  const { t } = useConsole();
  if (range === undefined) {
    return (
      <td colSpan={2} class="soft">
        {t.momentOutside}
      </td>
    );
  }
  const { lowest, highest } = range;
  return (
    <>
      <td>
        <span class="mono">{String(lowest)}</span>
        <CopyButton text={String(lowest)} what={`${t.lowest}, ${span}`} />
      </td>
      <td>
        <span class="mono">{String(highest)}</span>
        <CopyButton text={String(highest)} what={`${t.highest}, ${span}`} />
      </td>
    </>
  );
}
