console.log("a module that prints as it is imported");
