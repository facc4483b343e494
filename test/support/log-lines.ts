/** Captures standard output as lines without printing it, until `end` is called. */
export class LogLines {
  private text = '';
  private readonly spy = jest.spyOn(process.stdout, 'write').mockImplementation((part) => {
    this.text += String(part);
    return true;
  });

  get all(): string[] {
    return this.text.split('\n').filter((line) => line !== '');
  }

  /** The lines of the JSON format. */
  get entries(): Record<string, unknown>[] {
    const lines = this.all.filter((line) => line.startsWith('{'));
    return lines.map((line) => JSON.parse(line) as Record<string, unknown>);
  }

  end(): void {
    this.spy.mockRestore();
  }
}
