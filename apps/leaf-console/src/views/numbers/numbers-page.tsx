import type { ComponentChildren, JSX } from 'preact';
import { useMemo, useState } from 'preact/hooks';
import type { TagRow } from '../../api/admin-api';
import { type NumberRow, NumbersApi } from '../../api/numbers-api';
import { useNumberMessages } from '../../i18n/numbers/messages';
import { useConsole, useMonitor } from '../../state/context';
import { hrefOf } from '../../state/route';
import { EmptyState } from '../../ui/empty-state';
import { Choice, Field } from '../../ui/field';
import { DoneNote, ProblemNote } from '../../ui/note';
import { TokenControl } from '../../ui/token-control';
import { type Sorting, VirtualTable } from '../../ui/virtual-table';
import { SettingBadges } from '../tags/tag-settings';
import { useTagRows } from '../tags/use-tag-rows';
import { AuditDialog } from './audit-dialog';
import { type Settling, stateWords, useNumberColumns } from './number-columns';
import { ContinueDialog, SettleDialog } from './number-dialogs';
import { type Asked, isKey, nameOf, type NumberColumn, sortNumbers } from './number-rows';
import './numbers.css';
import { useNumbers } from './use-numbers';

const ROW_HEIGHT = 48;
const NARROW_ROW_HEIGHT = 148;

type Act =
  | { readonly kind: 'continue' }
  | { readonly kind: 'audit'; readonly period: string }
  | { readonly kind: 'settle'; readonly row: NumberRow; readonly settling: Settling };

/** The numbers of gapless tags. `given` is the tag in the URL. */
export function NumbersPage({ given }: { readonly given: string }): JSX.Element {
  const { t } = useConsole();
  const n = useNumberMessages();
  const { segments } = useMonitor();
  const { rows = [], loading, problem } = useTagRows();
  if (segments?.enabled === false) return <p class="waiting">{t.modeOff(t.segmentMode)}</p>;
  const tags = rows.filter(({ order }) => order === 'gapless');
  // The tag may be on a later page.
  const row = tags.find(({ tag }) => tag === given) ?? (loading ? undefined : tags[0]);
  return (
    <section class="filling" aria-label={t.numbers}>
      <TokenControl />
      <ProblemNote problem={problem} />
      {row !== undefined && <TagNumbers key={row.tag} row={row} tags={tags} />}
      {row === undefined && loading && <p class="waiting">{t.loadingTags}</p>}
      {row === undefined && !loading && problem === undefined && <EmptyState icon="numbers" title={n.noTags} />}
    </section>
  );
}

interface TagNumbersProps {
  readonly row: TagRow;
  readonly tags: readonly TagRow[];
}

function TagNumbers({ row, tags }: TagNumbersProps): JSX.Element {
  const { t, format, token } = useConsole();
  const n = useNumberMessages();
  const { tag } = row;
  const api = useMemo(() => new NumbersApi(token), [token]);
  const [asked, setAsked] = useState<Asked>({ period: '', state: 'issued', key: '' });
  const { rows, next, problem, loadMore, put } = useNumbers(api, tag, asked);
  const [sorting, setSorting] = useState<Sorting<NumberColumn>>({ by: 'issued', descending: false });
  const [act, setAct] = useState<Act | undefined>(undefined);
  const [done, setDone] = useState('');
  const begin = (begun: Act): void => {
    setDone('');
    setAct(begun);
  };
  const finish = (words: string): void => {
    setAct(undefined);
    setDone(words);
  };
  const close = (): void => setAct(undefined);
  const columns = useNumberColumns((number, settling) => begin({ kind: 'settle', row: number, settling }));
  const hasPeriods = row.reset !== undefined;
  return (
    <>
      <QueryForm {...{ row, tags, asked }} onAsk={setAsked} onAudit={(period) => begin({ kind: 'audit', period })}>
        {token !== '' && (
          <button type="button" onClick={() => begin({ kind: 'continue' })}>
            {n.continueVerb} …
          </button>
        )}
        <p class="count" role="status">
          {rows !== undefined && n.shown(format.count(rows.length))}
        </p>
      </QueryForm>
      <p class="number-settings">
        <SettingBadges row={row} /> <span class="soft">{row.description}</span>
      </p>
      <DoneNote text={done} />
      <ProblemNote problem={problem} />
      {rows === undefined && problem === undefined && <p class="waiting">{n.loading}</p>}
      {rows?.length === 0 && <EmptyState icon="numbers" title={n.noneFound} />}
      {rows !== undefined && rows.length > 0 && (
        <VirtualTable<NumberRow, NumberColumn>
          label={t.numbers}
          class="numbers-table"
          items={sortNumbers(rows, sorting)}
          keyOf={({ key }) => key}
          columns={columns}
          rowHeight={ROW_HEIGHT}
          narrowRowHeight={NARROW_ROW_HEIGHT}
          sorting={sorting}
          onSort={setSorting}
          sortLabel={t.sortBy}
        />
      )}
      {next !== undefined && (
        <button type="button" onClick={loadMore}>
          {n.more}
        </button>
      )}
      {act?.kind === 'audit' && <AuditDialog {...{ api, tag }} period={act.period} onClose={close} />}
      {act?.kind === 'continue' && (
        <ContinueDialog
          {...{ api, tag, hasPeriods }}
          onClose={close}
          onDone={(skipped) => {
            finish(n.continued(tag, format.count(skipped)));
            setAsked({ ...asked });
          }}
        />
      )}
      {act?.kind === 'settle' && (
        <SettleDialog
          {...{ api, row: act.row, settling: act.settling }}
          onClose={close}
          onDone={(number) => {
            put(number);
            finish((number.state === 'confirmed' ? n.confirmed : n.voided)(nameOf(number)));
          }}
        />
      )}
    </>
  );
}

interface QueryFormProps extends TagNumbersProps {
  readonly asked: Asked;
  readonly onAsk: (asked: Asked) => void;
  readonly onAudit: (period: string) => void;
  readonly children: ComponentChildren;
}

/** Chooses the tag, and which of its numbers to show. */
function QueryForm({ row: { tag, reset }, tags, asked, onAsk, onAudit, children }: QueryFormProps): JSX.Element {
  const { t } = useConsole();
  const n = useNumberMessages();
  const [period, setPeriod] = useState(asked.period);
  const [key, setKey] = useState(asked.key);
  const typed = { period: period.trim(), key: key.trim() };
  const isValid = isKey(typed.key);
  const words = stateWords(n);
  return (
    <form
      class="toolbar"
      onSubmit={(event) => {
        event.preventDefault();
        if (isValid) onAsk({ ...asked, ...typed });
      }}
    >
      <Choice
        label={t.tagField}
        value={tag}
        onValue={(name) => location.assign(hrefOf('numbers', name))}
        options={tags.map((known) => [known.tag, known.tag] as const)}
      />
      {reset !== undefined && <Field class="short" label={n.period} value={period} onValue={setPeriod} />}
      <Choice
        label={n.state}
        value={asked.state}
        onValue={(state) => {
          setKey('');
          onAsk({ ...typed, key: '', state });
        }}
        options={(['issued', 'void', 'confirmed', 'reissued'] as const).map((state) => [state, words[state]] as const)}
      />
      <Field
        label={n.key}
        type="search"
        value={key}
        onValue={setKey}
        fault={isValid ? undefined : n.keyInvalid}
        maxLength={128}
      />
      <button type="submit" class="main">
        {n.show}
      </button>
      <button type="button" onClick={() => onAudit(typed.period)}>
        {n.audit} …
      </button>
      {children}
    </form>
  );
}
