import { Anchor, Code } from '@mantine/core'
import { Fragment, type ReactNode } from 'react'

const pattern = /^#{1,6} (.+)$|`([^`]+)`|\*\*([^*]+)\*\*|\[([^[\]]+)\]\((https?:\/\/[^\s()]+)\)|(https?:\/\/[^\s)]+)/gm

/** The subset of Markdown that plugins use in hints: headings, code, bold and links. Everything else is shown verbatim. */
export function InlineMarkdown({ text }: { text: string }) {
  const parts: ReactNode[] = []
  let end = 0
  for (const match of text.matchAll(pattern)) {
    const [, heading, code, bold, label, address] = match
    const bare = match[6] && withoutPunctuation(match[6])
    parts.push(text.slice(end, match.index))
    if (code !== undefined) parts.push(<Code key={match.index}>{code}</Code>)
    else if (heading ?? bold) parts.push(<b key={match.index}>{heading ?? bold}</b>)
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
