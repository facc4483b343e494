import { parse } from 'yaml';

interface Evaluation {
  readonly expr: string;
  readonly exp_samples: readonly { readonly labels: string; readonly value: number }[];
}

interface RuleTest {
  readonly name: string;
  readonly input_series: readonly { readonly series: string }[];
  readonly promql_expr_test?: readonly Evaluation[];
  readonly alert_rule_test?: readonly { readonly alertname: string; readonly exp_alerts: readonly unknown[] }[];
}

/** What the cases of promtool say about alerts. */
export interface AlertCases {
  /** Every alert that a case names; a name may be a regular expression. */
  readonly named: ReadonlySet<string>;
  /** Alerts that a case expects to fire. */
  readonly firing: ReadonlySet<string>;
  /** Alerts that a case expects not to fire, by their names. */
  readonly silent: ReadonlySet<string>;
  /** Series that the cases feed, as they are written. */
  readonly series: readonly string[];
}

const FIRING = /\bALERTS\{[^}]*\balertname="(\w+)"[^}]*\}/;
const NAMES = /\balertname=~?"([^"]+)"/g;

/** Reads files of unit tests for rules. */
export function readAlertCases(texts: readonly string[]): AlertCases {
  const named = new Set<string>();
  const firing = new Set<string>();
  const silent = new Set<string>();
  const tests = texts.flatMap((text) => (parse(text) as { tests: readonly RuleTest[] }).tests);
  const add = (name: string, fires: boolean): void => void (fires ? firing : silent).add(name);
  for (const { promql_expr_test: evaluations = [], alert_rule_test: alerts = [] } of tests) {
    for (const { alertname, exp_alerts: expected } of alerts) {
      named.add(alertname);
      add(alertname, expected.length > 0);
    }
    for (const { expr, exp_samples: samples } of evaluations) {
      for (const text of [expr, ...samples.map(({ labels }) => labels)]) {
        for (const [, names = ''] of text.matchAll(NAMES)) for (const name of names.split('|')) named.add(name);
      }
      const alert = FIRING.exec(expr)?.[1];
      if (alert !== undefined) add(alert, samples.length > 0);
    }
  }
  return { named, firing, silent, series: tests.flatMap((test) => test.input_series.map(({ series }) => series)) };
}
