import { Argument, type Command, Option } from 'commander';

type ShellName = 'bash' | 'zsh' | 'fish';

/** How the words and descriptions of candidates are printed for a shell, and what it loads. */
interface Shell {
  readonly line: (word: string, description: string) => string;
  readonly script: (name: string, id: string) => string;
}

/**
 * Each script runs the program as it was typed, with the words up to the cursor. They are joined by U+001F, at which no
 * shell splits or trims. Without candidates, file names complete.
 */
const SHELLS: Readonly<Record<ShellName, Shell>> = {
  bash: {
    line: (word) => word,
    script: (name, id) => `${id}() {
  local IFS=$'\\x1f'
  local line="\${COMP_WORDS[*]:1:COMP_CWORD}"
  IFS=$'\\n'
  COMPREPLY=($("\${COMP_WORDS[0]}" completion bash --words "$line" 2>/dev/null))
}
complete -o default -F ${id} ${name}
`,
  },
  zsh: {
    line: (word, description) => `${word.replaceAll(':', '\\:')}:${description}`,
    script: (name, id) => `#compdef ${name}
${id}() {
  local -a found
  found=("\${(@f)$("\${words[1]}" completion zsh --words "\${(pj:\\x1f:)words[2,CURRENT]}" 2>/dev/null)}")
  if [[ -n "\${found[1]}" ]]; then _describe ${name} found; else _files; fi
}
compdef ${id} ${name}
`,
  },
  fish: {
    line: (word, description) => `${word}\t${description}`,
    script: (name, id) => `function ${id}
  set -l typed (commandline -opc) (commandline -ct)
  set -l found ($typed[1] completion fish --words (string join \\x1f -- $typed[2..]) 2>/dev/null)
  if test -n "$found[1]"
    printf '%s\\n' $found
  else
    __fish_complete_path (commandline -ct)
  end
end
complete -c ${name} -f -a '(${id})'
`,
  },
};

/** Adds `completion <shell>`, which prints the script of a shell, or the candidates for the words of a command line. */
export function addCompletion(program: Command): void {
  const name = program.name();
  const shell = new Argument('<shell>', 'the shell').choices(Object.keys(SHELLS));
  program
    .command('completion')
    .description(`print what completes ${name} in a shell, for its startup file`)
    .addArgument(shell)
    .addOption(new Option('--words <words>', 'the words up to the cursor').hideHelp())
    .action((shellName: ShellName, { words }: { words?: string }) => {
      const { line, script } = SHELLS[shellName];
      const text =
        words === undefined
          ? script(name, `_${name.replaceAll('-', '_')}`)
          : candidates(program, words.split('\x1f'))
              .map(([word, description]) => `${line(word, description)}\n`)
              .join('');
      program.configureOutput().writeOut?.(text);
    });
}

/** The words, each with its description, that can stand in place of the last one. */
function candidates(program: Command, words: readonly string[]): (readonly [string, string])[] {
  const last = words.at(-1) ?? '';
  let command = program;
  let operands = 0;
  /** The option whose value is next. */
  let open: Option | undefined;
  for (const word of words.slice(0, -1)) {
    const option =
      open === undefined ? optionsOf(command).find(({ short, long }) => word === short || word === long) : undefined;
    const subcommand = command.commands.find((each) => each.name() === word);
    if (open !== undefined) open = undefined;
    else if (option !== undefined) open = option.required ? option : undefined;
    else if (subcommand !== undefined) [command, operands] = [subcommand, 0];
    else if (!word.startsWith('-')) operands++;
  }
  return found(command, operands, open, last).filter(([word]) => word.startsWith(last));
}

function found(
  command: Command,
  operands: number,
  open: Option | undefined,
  last: string,
): (readonly [string, string])[] {
  if (open !== undefined) return (open.argChoices ?? []).map((choice) => [choice, open.description]);
  if (last.startsWith('-')) return optionsOf(command).map(({ long, description }) => [long ?? '', description]);
  const { argChoices = [], description = '' } = command.registeredArguments[operands] ?? {};
  const commands = operands === 0 ? command.createHelp().visibleCommands(command) : [];
  return [
    ...commands.map((each) => [each.name(), each.description()] as const),
    ...argChoices.map((choice) => [choice, description] as const),
  ];
}

/** The options of a command and of those above it. */
function optionsOf(command: Command): Option[] {
  const own = command.createHelp().visibleOptions(command);
  if (command.parent === null) return own;
  return [...own, ...optionsOf(command.parent).filter(({ long }) => own.every((each) => each.long !== long))];
}
