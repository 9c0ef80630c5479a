import { Code } from '@mantine/core'

/** A command to copy, on several lines if need be; a line must not end within an option. */
export const CommandLine = ({ command }: { command: string }) => (
  <Code block style={{ whiteSpace: 'pre-wrap' }}>
    {command.split(/(?<= )/).map(word => (
      <span key={word} style={{ display: 'inline-block', whiteSpace: 'pre' }}>
        {word}
      </span>
    ))}
  </Code>
)
