import { useMessages } from '../i18n/language.tsx'
import classes from '../ui/diff/diff-lines.module.css'
import { type DiffLine, diffLines } from '../ui/diff/line-diff.ts'

const contextLines = 3
/** Above this size the quadratic diff would block the main thread. */
const linesMax = 1_000

/** A line diff. Long unchanged stretches are collapsed. */
export function TextDiff({ before, after, isCode }: { before: string; after: string; isCode?: boolean }) {
  const t = useMessages()
  const [old, next] = [linesOf(before), linesOf(after)]
  if (old.length > linesMax || next.length > linesMax) return <p>{t.plugins.tooLongToCompare}</p>
  const words = { removed: t.history.removed, added: t.history.added, same: '' }
  const marks = { removed: '−', added: '+', same: ' ' }
  return (
    <ul className={classes.lines} style={isCode ? { fontFamily: 'var(--mantine-font-family-monospace)' } : undefined}>
      {shorten(diffLines(old, next)).map((line, index) =>
        typeof line === 'number' ? (
          // biome-ignore lint/suspicious/noArrayIndexKey: lines of a diff never move.
          <li key={index} className={classes.same}>
            {t.plugins.sameLines(line)}
          </li>
        ) : (
          // biome-ignore lint/suspicious/noArrayIndexKey: lines of a diff never move.
          <li key={index} className={classes[line.kind]}>
            <span aria-hidden="true">{marks[line.kind]} </span>
            {line.kind !== 'same' && <span className={classes.hidden}>{words[line.kind]}: </span>}
            {line.text}
          </li>
        ),
      )}
    </ul>
  )
}

const linesOf = (text: string): string[] => (text === '' ? [] : text.replace(/\n$/, '').split('\n'))

/** Numbers stand for that many unchanged lines. */
function shorten(lines: readonly DiffLine[]): (DiffLine | number)[] {
  const isNear = lines.map((_line, index) =>
    lines.slice(Math.max(0, index - contextLines), index + contextLines + 1).some(({ kind }) => kind !== 'same'),
  )
  const shown: (DiffLine | number)[] = []
  for (const [index, line] of lines.entries()) {
    const last = shown.at(-1)
    if (isNear[index]) shown.push(line)
    else if (typeof last === 'number') shown[shown.length - 1] = last + 1
    else shown.push(1)
  }
  return shown
}
