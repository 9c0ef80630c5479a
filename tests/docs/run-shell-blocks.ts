import { spawn } from 'node:child_process'

/** One fenced block of a page, and the block with its expected output when one follows. */
export interface ShellBlock {
  readonly line: number
  readonly script: string
  readonly expected: { readonly kind: 'json' | 'text'; readonly text: string } | undefined
}

const fence = /^```(\w*)\n([\s\S]*?)^```$/gm

/**
 * The `sh` blocks of a page. An `Output:` line followed by a `json` or `text` block documents what the block before it prints.
 * A block that is introduced by `<!-- not run -->` is left out.
 */
export function shellBlocks(page: string): ShellBlock[] {
  const fences = [...page.matchAll(fence)].map(match => ({
    language: match[1]!,
    text: match[2]!,
    start: match.index,
    end: match.index + match[0].length,
  }))
  return fences.flatMap((block, index) => {
    if (block.language !== 'sh' || page.slice(0, block.start).trimEnd().endsWith('<!-- not run -->')) return []
    const next = fences[index + 1]
    const isOutput = next && page.slice(block.end, next.start).trim() === 'Output:'
    return [
      {
        line: page.slice(0, block.start).split('\n').length,
        script: block.text,
        expected: isOutput
          ? { kind: next.language === 'json' ? ('json' as const) : 'text', text: next.text }
          : undefined,
      },
    ]
  })
}

/** Runs all blocks of a page in one shell, as a reader who pastes them one after the other, and returns what each printed. */
export async function runBlocks(
  blocks: readonly ShellBlock[],
  environment: Record<string, string>,
): Promise<readonly string[]> {
  const boundary = `--- end of block ${process.pid} ---`
  const script = blocks.map(({ script }) => `${script}\necho; echo '${boundary}'`).join('\n')
  const child = spawn('bash', ['-e', '-u', '-o', 'pipefail', '-c', script], {
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

/**
 * Whether actual output fits a documented one. Objects may have more keys than documented; the text "…" stands for any value and,
 * at the end of a list, for any further items.
 */
export function fits(expected: unknown, actual: unknown): boolean {
  if (expected === '…') return actual !== undefined
  if (typeof expected === 'string' && expected.includes('…') && typeof actual === 'string') {
    const [before, after] = expected.split('…') as [string, string]
    return actual.startsWith(before) && actual.endsWith(after)
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
