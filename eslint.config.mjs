import tseslint from 'typescript-eslint';

/** Time and chance reach the libraries through `Clock` and `RandomSource` only: that is what makes them testable. */
const timeAndChance = [
  { object: 'Date', property: 'now', message: 'Use Clock.now().' },
  { object: 'performance', property: 'now', message: 'Use Clock.monotonic().' },
  { object: 'Math', property: 'random', message: 'Use an injected RandomSource.' },
  { object: 'process', property: 'hrtime', message: 'Use Clock.monotonic().' },
];
const environment = [
  {
    object: 'process',
    property: 'env',
    message: 'Read it in apps/leaf-server/src/config/environment.ts, or in libs/cli/src/main.ts.',
  },
];
const timers = ['setTimeout', 'setInterval'].map((name) => ({ name, message: 'Use Clock.sleep().' }));
const noForwardRef = {
  selector: "CallExpression[callee.name='forwardRef']",
  message: 'Move what both sides need down, instead of a circle.',
};

export default tseslint.config(
  {
    // The programs of test/applications import packages that only their installations have.
    ignores: [
      ...['**/dist/**', 'dist-packages/**', 'coverage/**', 'node_modules/**', 'data/**', '.cache/**'],
      'test/applications/*/programs/**',
    ],
  },
  {
    files: ['**/*.{ts,tsx}'],
    extends: [...tseslint.configs.strictTypeChecked],
    languageOptions: { parserOptions: { projectService: true, tsconfigRootDir: import.meta.dirname } },
    rules: {
      'max-lines': ['error', { max: 500 }],
      eqeqeq: 'error',
      'no-console': 'error',
      'no-restricted-properties': ['error', ...timeAndChance, ...environment],
      'no-restricted-globals': ['error', ...timers],
      'no-restricted-syntax': [
        'error',
        noForwardRef,
        { selector: 'NewExpression[callee.name="Date"][arguments.length=0]', message: 'Use Clock.now().' },
      ],
      'no-restricted-imports': [
        'error',
        { patterns: [{ group: ['./index', '../index', '../../index'], message: 'Import the neighbour file itself.' }] },
      ],
      '@typescript-eslint/switch-exhaustiveness-check': 'error',
      // What a method with a default may be told, and does not need.
      '@typescript-eslint/no-unused-vars': ['error', { argsIgnorePattern: '^_' }],
      // Nest declares its option bags as classes.
      '@typescript-eslint/no-unsafe-class-instance-assignment': 'off',
      '@typescript-eslint/restrict-template-expressions': ['error', { allowNumber: true, allowBoolean: true }],
      '@typescript-eslint/no-extraneous-class': ['error', { allowWithDecorator: true }],
      '@typescript-eslint/no-confusing-void-expression': ['error', { ignoreArrowShorthand: true }],
      '@typescript-eslint/explicit-module-boundary-types': 'error',
    },
  },
  {
    files: ['libs/core/src/clock/*.ts', 'libs/core/src/util/random.ts'],
    rules: { 'no-restricted-properties': ['error', ...environment], 'no-restricted-globals': 'off' },
  },
  {
    // Scheduled jobs hand their timer to @nestjs/schedule, which clears it.
    files: ['libs/*/src/**/*.job.ts'],
    rules: { 'no-restricted-globals': 'off' },
  },
  {
    // One file for each program.
    files: ['apps/leaf-server/src/config/environment.ts', 'libs/cli/src/main.ts'],
    rules: { 'no-restricted-properties': ['error', ...timeAndChance] },
  },
  {
    // An application reads its environment where it likes.
    files: ['examples/**/*.ts'],
    rules: { 'no-restricted-properties': ['error', ...timeAndChance] },
  },
  {
    // The page lives in a browser, which has one clock and its own timers.
    files: ['apps/leaf-console/src/**/*.{ts,tsx}'],
    rules: {
      'no-restricted-properties': 'off',
      'no-restricted-globals': 'off',
      'no-restricted-syntax': [
        'error',
        {
          selector:
            "JSXAttribute[name.name='dangerouslySetInnerHTML'], MemberExpression[property.name=/^(inner|outer)HTML$/]",
          message: 'Text stays text: what comes from a server is never markup.',
        },
      ],
    },
  },
  {
    // One word a line; all that its functions return is text.
    files: ['apps/leaf-console/src/**/en.ts'],
    rules: { '@typescript-eslint/explicit-module-boundary-types': 'off' },
  },
  {
    files: ['test/**/*.ts', 'bench/**/*.ts', '**/*.spec.ts'],
    rules: {
      'max-lines': ['error', { max: 500 }],
      'no-console': 'off',
      'no-restricted-properties': 'off',
      'no-restricted-globals': 'off',
      'no-restricted-syntax': [
        'error',
        {
          selector: "CallExpression[callee.object.name='jest'][callee.property.name=/^(mock|doMock)$/]",
          message: 'No module mocks.',
        },
        {
          selector:
            'CallExpression[callee.object.name=/^(it|test|describe)$/][callee.property.name=/^(only|skip|todo)$/]',
          message: 'Every test runs.',
        },
        {
          selector: "CallExpression[callee.property.name='toEqual'] > ArrayExpression[elements.length=0]",
          message: 'toEqual([]) accepts [undefined]; use toStrictEqual([]).',
        },
      ],
      '@typescript-eslint/no-non-null-assertion': 'off',
      // Jest's asymmetric matchers are any.
      '@typescript-eslint/no-unsafe-assignment': 'off',
      '@typescript-eslint/no-unsafe-argument': 'off',
    },
  },
);
