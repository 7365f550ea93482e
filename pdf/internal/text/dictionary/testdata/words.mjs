// Parts the sentences of icu.txt anew by the ICU of Node:
//   node words.mjs < icu.txt > new.txt
import { readFileSync } from "node:fs";
for (const line of readFileSync(0, "utf8").trim().split("\n")) {
  const lang = line.slice(0, 2);
  if (lang === "# ") {
    console.log(`# Sentences of ours, parted into words by ICU ${process.versions.icu} (words.mjs).`);
    continue;
  }
  const words = new Intl.Segmenter(lang, { granularity: "word" }).segment(line.slice(3).replaceAll("|", ""));
  console.log(lang, [...words].map((w) => w.segment).join("|"));
}
