import { Anchor, Code } from '@mantine/core'
import { Fragment, type ReactNode } from 'react'

const pattern = /`([^`]+)`|\*\*([^*]+)\*\*|\[([^[\]]+)\]\((https?:\/\/[^\s()]+)\)|(https?:\/\/[^\s)]+)/g

/** The subset of Markdown that plugins use in hints: code, bold and links. Everything else is shown verbatim. */
export function InlineMarkdown({ text }: { text: string }) {
  const parts: ReactNode[] = []
  let end = 0
  for (const match of text.matchAll(pattern)) {
    const [, code, bold, label, address] = match
    const bare = match[5] && withoutPunctuation(match[5])
    parts.push(text.slice(end, match.index))
    if (code !== undefined) parts.push(<Code key={match.index}>{code}</Code>)
    else if (bold !== undefined) parts.push(<b key={match.index}>{bold}</b>)
    else parts.push(<Outside key={match.index} address={address ?? bare ?? ''} label={label ?? bare ?? ''} />)
    end = match.index + (bare ?? match[0]).length
  }
  parts.push(text.slice(end))
  return (
    <>
      {parts.map((part, index) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: the parts of a text never move.
        <Fragment key={index}>{part}</Fragment>
      ))}
    </>
  )
}

/** The end of a sentence is not part of an address. */
function withoutPunctuation(address: string): string {
  let end = address.length
  while ('.,;:'.includes(address[end - 1]!)) end -= 1
  return address.slice(0, end)
}

export const Outside = ({ address, label }: { address: string; label: string }) => (
  <Anchor href={address} target="_blank" rel="noreferrer" inherit underline="always">
    {label}
  </Anchor>
)
