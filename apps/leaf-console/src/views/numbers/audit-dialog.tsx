import type { JSX } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import { auditPath, type NumberAudit, type NumbersApi } from '../../api/numbers-api';
import type { Outcome, Problem } from '../../api/problem';
import { useNumberMessages } from '../../i18n/numbers/messages';
import { useConsole } from '../../state/context';
import { CopyButton } from '../../ui/copy-button';
import { Dialog } from '../../ui/dialog';
import { ProblemNote } from '../../ui/note';
import { stateWords } from './number-columns';

/** Missing ranges that are listed. */
const SHOWN = 20;
/** Time for the browser to read a file, in milliseconds. */
const KEPT_MS = 60_000;

interface AuditDialogProps {
  readonly api: NumbersApi;
  readonly tag: string;
  /** Empty: the current one. */
  readonly period: string;
  readonly onClose: () => void;
}

/** Audits a period and shows what was found. */
export function AuditDialog({ api, tag, period, onClose }: AuditDialogProps): JSX.Element {
  const n = useNumberMessages();
  const [outcome, setOutcome] = useState<Outcome<NumberAudit> | undefined>(undefined);
  useEffect(() => {
    let current = true;
    void api.audit(tag, period).then((found) => {
      if (current) setOutcome(found);
    });
    return () => {
      current = false;
    };
  }, [api, tag, period]);
  return (
    <Dialog title={n.auditOf(tag)} onClose={onClose}>
      <div class="audit">
        {outcome === undefined && <p class="soft">{n.checking}</p>}
        <ProblemNote problem={outcome?.ok === false ? outcome.problem : undefined} />
        {outcome?.ok === true && <Findings api={api} audit={outcome.value} />}
        <div class="dialog-acts">
          <button type="button" onClick={onClose}>
            {n.close}
          </button>
        </div>
      </div>
    </Dialog>
  );
}

interface FindingsProps {
  readonly api: NumbersApi;
  readonly audit: NumberAudit;
}

function Findings({ api, audit }: FindingsProps): JSX.Element {
  const { t, format } = useConsole();
  const n = useNumberMessages();
  const { period, first = '–', last = '–', counts, contiguous, missing, chronological, intact, fault } = audit;
  const isSound = contiguous && intact;
  const yesNo = (is: boolean): string => (is ? n.yes : n.no);
  const ranges = missing.slice(0, SHOWN).map(({ from, to }) => (from === to ? from : `${from} … ${to}`));
  const rest = missing.length > SHOWN ? `, ${t.more(format.count(missing.length - SHOWN))}` : '';
  const facts: readonly (readonly [string, string])[] = [
    ...(period === undefined ? [] : [[n.auditedPeriod, period] as const]),
    [n.first, first],
    [n.last, last],
    ...(['issued', 'confirmed', 'void', 'reissued'] as const).map(
      (state) => [stateWords(n)[state], format.count(counts[state])] as const,
    ),
    [n.contiguous, yesNo(contiguous)],
    ...(ranges.length === 0 ? [] : [[n.missing, ranges.join(', ') + rest] as const]),
    [n.chronological, yesNo(chronological)],
    [n.intact, yesNo(intact)],
    ...(fault === undefined ? [] : [[n.fault, `${fault.number ?? ''} ${fault.problem}`.trim()] as const]),
    [n.lines, format.count(audit.lines)],
    ...(audit.unverified === 0 ? [] : [[n.unverified, format.count(audit.unverified)] as const]),
  ];
  return (
    <>
      <p role="status" class={`note note-${isSound ? 'up' : 'down'}`}>
        {isSound ? n.sound : n.unsound}
      </p>
      <dl class="facts">
        {facts.map(([label, value]) => (
          <div key={label}>
            <dt>{label}</dt>
            <dd>{value}</dd>
          </div>
        ))}
        <div class="audit-hash">
          <dt>{n.hash}</dt>
          <dd class="mono">
            {audit.hash === '' ? '–' : audit.hash} <CopyButton text={audit.hash} what={n.hash} />
          </dd>
        </div>
      </dl>
      <AuditFiles api={api} audit={audit} />
    </>
  );
}

/** A link cannot send a token: with one, the page requests the file and gives it to the browser. */
function AuditFiles({ api, audit: { tag, period = '' } }: FindingsProps): JSX.Element {
  const { token } = useConsole();
  const n = useNumberMessages();
  const [problem, setProblem] = useState<Problem | undefined>(undefined);
  const csvName = `${[tag, period].join('-').replaceAll(/[^\w.-]|-$/g, '')}.csv`;
  const open = async (path: string, target: Partial<HTMLAnchorElement>): Promise<void> => {
    const outcome = await api.file(path);
    setProblem(outcome.ok ? undefined : outcome.problem);
    if (!outcome.ok) return;
    const href = URL.createObjectURL(outcome.value);
    Object.assign(document.createElement('a'), { href, ...target }).click();
    setTimeout(() => URL.revokeObjectURL(href), KEPT_MS);
  };
  const link = (format: string, words: string, target: Partial<HTMLAnchorElement>): JSX.Element => {
    const path = auditPath(tag, period, format);
    return (
      <a
        href={path}
        target="_blank"
        rel="noreferrer"
        onClick={(event) => {
          if (token === '') return;
          event.preventDefault();
          void open(path, target);
        }}
      >
        {words}
      </a>
    );
  };
  return (
    <>
      <p class="audit-files">
        {link('csv', n.csv, { download: csvName })} {link('html', n.printable, { target: '_blank', rel: 'noreferrer' })}
      </p>
      <ProblemNote problem={problem} />
    </>
  );
}
