import { CLASSES } from 'virtual:broken-rules';

type Methods = readonly (readonly [name: string, method: PropertyDescriptor])[];

/**
 * Takes rules out of the lease and puts them back. The changed methods replace those of the shipped class, so that
 * everything that uses the class has them at once.
 */
export class RuleSwitches {
  /** The methods of each class that a rule changes. The classes must have all their rules. */
  private readonly shipped: readonly Methods[] = CLASSES.map(({ shipped, variants }) => {
    const changed = new Set(Object.values(variants).flatMap((variant) => methodsOf(variant).map(([name]) => name)));
    return methodsOf(shipped).filter(([name]) => changed.has(name));
  });

  /** Takes these rules out, and puts all others back. */
  takeOut(rules: ReadonlySet<string>): void {
    CLASSES.forEach(({ rules: own, shipped, variants }, index) => {
      const variant = variants[own.filter((rule) => rules.has(rule)).join('-')];
      const methods = [...(this.shipped[index] ?? []), ...(variant === undefined ? [] : methodsOf(variant))];
      Object.defineProperties(shipped.prototype, Object.fromEntries(methods));
    });
  }
}

function methodsOf({ prototype }: { readonly prototype: object }): Methods {
  return Object.entries(Object.getOwnPropertyDescriptors(prototype)).filter(([name]) => name !== 'constructor');
}
