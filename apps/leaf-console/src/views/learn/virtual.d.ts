/** Made by `broken-rules.mjs` in the build of the console. */
declare module 'virtual:broken-rules' {
  interface Class {
    readonly prototype: object;
  }

  interface ClassWithRules {
    /** `R3`, `R7` */
    readonly rules: readonly string[];
    readonly shipped: Class;
    /** The methods that change when rules are taken out, by these rules: `R3`, `R3-R7`. */
    readonly variants: Readonly<Record<string, Class>>;
  }

  export const CLASSES: readonly ClassWithRules[];
}
