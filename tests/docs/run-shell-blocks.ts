import { spawn } from 'node:child_process'
import { mkdirSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'

/** One fenced block of a page, and the block with its expected output when one follows. */
export interface ShellBlock {
  readonly line: number
  readonly script: string
  /** Why the block cannot be executed in a test; undefined when it is executed. */
  readonly notRun: string | undefined
  readonly expected: { readonly kind: 'json' | 'text'; readonly text: string } | undefined
}

/** A fenced block with the directive above it: `<!-- not run: reason -->`, `<!-- file: name -->` or `<!-- run: where -->`. */
export interface Fence {
  readonly language: string
  readonly text: string
  readonly line: number
  readonly directive: { readonly name: string; readonly value: string } | undefined
  /** The text between the previous block and this one. */
  readonly before: string
}

export function fencesOf(page: string): Fence[] {
  let end = 0
  return [...page.matchAll(/^```(\w*)\n([\s\S]*?)^```$/gm)].map(match => {
    const before = page.slice(end, match.index)
    end = match.index + match[0].length
    const [, name, value] = /<!-- (not run|file|run): (.+?) -->\s*$/.exec(before) ?? []
    return {
      language: match[1]!,
      text: match[2]!,
      line: page.slice(0, match.index).split('\n').length,
      directive: name ? { name, value: value! } : undefined,
      before,
    }
  })
}

/** The `sh` blocks of a page. An `Output:` line followed by a `json` or `text` block documents what the block before it prints. */
export function shellBlocks(page: string): ShellBlock[] {
  const fences = fencesOf(page)
  return fences.flatMap((block, index) => {
    if (block.language !== 'sh') return []
    const next = fences[index + 1]
    const isOutput = next?.before.trim() === 'Output:'
    return [
      {
        line: block.line,
        script: block.text,
        notRun: block.directive?.name === 'not run' ? block.directive.value : undefined,
        expected: isOutput
          ? { kind: next.language === 'json' ? ('json' as const) : 'text', text: next.text }
          : undefined,
      },
    ]
  })
}

/** Writes the files that a page asks its reader to save. */
export function writeFiles(page: string, folder: string): void {
  for (const { directive, text } of fencesOf(page)) {
    if (directive?.name !== 'file') continue
    const path = join(folder, directive.value)
    mkdirSync(dirname(path), { recursive: true })
    writeFileSync(path, text)
  }
}

/** Runs all blocks of a page in one shell, as a reader who pastes them one after the other, and returns what each printed. */
export async function runBlocks(
  blocks: readonly ShellBlock[],
  folder: string,
  environment: Record<string, string>,
): Promise<readonly string[]> {
  const boundary = `--- end of block ${process.pid} ---`
  const script = blocks.map(({ script }) => `${script}\necho; echo '${boundary}'`).join('\n')
  const child = spawn('bash', ['-e', '-u', '-o', 'pipefail', '-c', script], {
    cwd: folder,
    env: { ...process.env, ...environment },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  let output = ''
  let errors = ''
  child.stdout.on('data', text => (output += text))
  child.stderr.on('data', text => (errors += text))
  const status = await new Promise(resolve => child.on('close', resolve))
  const outputs = output.split(`\n${boundary}\n`).slice(0, -1)
  if (status !== 0) {
    throw new Error(`The block at line ${blocks[outputs.length]?.line} failed:\n${errors}\n${output.slice(-2000)}`)
  }
  return outputs
}

/** Whether a block printed what the page documents. In text, "…" stands for anything within a line, or for any lines. */
export function isAsDocumented({ kind, text }: NonNullable<ShellBlock['expected']>, actual: string): boolean {
  if (kind === 'json') return fits(JSON.parse(text), JSON.parse(actual))
  return linesFit(text.trim().split('\n'), actual.trim().split('\n'))
}

function linesFit([first, ...others]: readonly string[], lines: readonly string[]): boolean {
  if (first === undefined) return lines.length === 0
  if (first !== '…') return lines.length > 0 && fits(first, lines[0]?.trimEnd()) && linesFit(others, lines.slice(1))
  return lines.concat('').some((_, index) => linesFit(others, lines.slice(index)))
}

/**
 * Whether actual output fits a documented one. Objects may have more keys than documented; the text "…" stands for any value and,
 * at the end of a list, for any further items.
 */
function fits(expected: unknown, actual: unknown): boolean {
  if (expected === '…') return actual !== undefined
  if (typeof expected === 'string' && expected.includes('…') && typeof actual === 'string') {
    const pattern = expected.split('…').map(part => part.replace(/[.*+?^${}()|[\]\\]/g, '\\$&'))
    return new RegExp(`^${pattern.join('.*')}$`, 's').test(actual)
  }
  if (Array.isArray(expected)) {
    if (!Array.isArray(actual)) return false
    const isOpen = expected.at(-1) === '…'
    const items = isOpen ? expected.slice(0, -1) : expected
    return (isOpen || items.length === actual.length) && items.every((item, index) => fits(item, actual[index]))
  }
  if (typeof expected === 'object' && expected !== null) {
    return (
      typeof actual === 'object' &&
      actual !== null &&
      Object.entries(expected).every(([key, value]) => fits(value, (actual as Record<string, unknown>)[key]))
    )
  }
  return expected === actual
}
