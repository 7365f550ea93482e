// Runs veraPDF over folders of files, each with a flavour of its own, in one Java machine: what its
// command line does for one flavour only. The arguments are flavour, folder and file for the report,
// again and again. What it prints is the flavour and the exit status of each.
Packages.org.verapdf.gf.foundry.VeraGreenfieldFoundryProvider.initialise();
var Arguments = java.lang.Class.forName("org.verapdf.cli.commands.VeraCliArgParser");
var run = java.lang.Class.forName("org.verapdf.cli.VeraPdfCli").getDeclaredMethod("singleThreadProcess", Arguments);
run.setAccessible(true);
var out = java.lang.System.out;
for (var i = 0; i < arguments.length; i += 3) {
  var parsed = new Packages.org.verapdf.cli.commands.VeraCliArgParser();
  new Packages.com.beust.jcommander.JCommander(parsed).parse("-f", arguments[i], "--format", "json", "-r", arguments[i + 1]);
  var report = new java.io.PrintStream(arguments[i + 2], "UTF-8");
  java.lang.System.setOut(report);
  var status = run.invoke(null, parsed);
  report.close();
  out.println(arguments[i] + " " + status.value);
}
